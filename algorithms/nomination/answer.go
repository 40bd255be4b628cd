package nomination

import "github.com/ringleader-dev/ringleader/proto"

// Whoever knows the leader of the term says so: a Round first asks one of these about a
// message that calls an election.

var (
	whyDecided        = reasons.Kind("decided", "%s of %d, and %d leads term %d -> tell it")
	whyDecidedUnheard = reasons.Kind("decided-unheard", "%s of %d, leader %d was not heard of late -> do not answer")
)

// Decided answers a call, of the given kind, of a term that has its leader already, and
// reports whether it has.
func (c *Core) Decided(kind proto.Kind, from proto.NodeID) bool {
	switch {
	case c.Vouches():
		c.Why(whyDecided, kind, from, c.leader.ID, c.term)
		c.Tell(from)
	case !c.Looking():
		c.Why(whyDecidedUnheard, kind, from, c.leader.ID)
	default:
		return false
	}
	return true
}

var (
	whyKnows        = reasons.Kind("knows", "%d asks but %d leads term %d -> tell it")
	whyKnowsUnheard = reasons.Kind("knows-unheard", "%d asks, leader %d was not heard of late -> do not answer")
	whyAskedAside   = reasons.Kind("asked-aside", "%d asks but this node stands aside -> do not answer")
)

// Asked answers one that asks where no election comes of that: this node knows the leader,
// or stands aside. It reports whether that is so.
func (c *Core) Asked(from proto.NodeID) bool {
	switch {
	case c.Vouches():
		c.Why(whyKnows, from, c.leader.ID, c.term)
		c.Tell(from)
	case !c.Looking():
		c.Why(whyKnowsUnheard, from, c.leader.ID)
	case c.Aside():
		c.Why(whyAskedAside, from)
	default:
		return false
	}
	return true
}
