package nomination

import "github.com/ringleader-dev/ringleader/proto"

// Whoever knows the leader of the term says so: a Round first asks one of these about a
// message that calls an election.

// Decided answers a call, of the given kind, of a term that has its leader already, and
// reports whether it has.
func (c *Core) Decided(kind proto.Kind, from proto.NodeID) bool {
	switch {
	case c.Vouches():
		c.Why("%s of %d, and %d leads term %d -> tell it", kind, from, c.leader.ID, c.term)
		c.Tell(from)
	case !c.Looking():
		c.Why("%s of %d, leader %d was not heard of late -> do not answer", kind, from, c.leader.ID)
	default:
		return false
	}
	return true
}

// Asked answers one that asks where no election comes of that: this node knows the leader,
// or stands aside. It reports whether that is so.
func (c *Core) Asked(from proto.NodeID) bool {
	switch {
	case c.Vouches():
		c.Why("%d asks but %d leads term %d -> tell it", from, c.leader.ID, c.term)
		c.Tell(from)
	case !c.Looking():
		c.Why("%d asks, leader %d was not heard of late -> do not answer", from, c.leader.ID)
	case c.Aside():
		c.Why("%d asks but this node stands aside -> do not answer", from)
	default:
		return false
	}
	return true
}
