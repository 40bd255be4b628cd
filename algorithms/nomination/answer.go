package nomination

import "github.com/ringleader-dev/ringleader/proto"

// A node that knows the leader of the term tells it to a node that calls an election. A Round calls
// one of these functions first when it receives such a call.

var (
	whyDecided        = reasons.Kind("decided", "%s of %d, and %d leads term %d -> tell it")
	whyDecidedUnheard = reasons.Kind("decided-unheard", "%s of %d, leader %d was not heard of late -> do not answer")
)

// Decided handles a call of an election if the current term already has a leader, and reports whether
// the term has one. It answers only if this node vouches for the leader. kind is the kind of the call.
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

// Asked handles a question who leads, if no election follows from the question: this node knows the
// leader, or stands aside. Asked reports whether that is so. It answers only if this node vouches for
// the leader.
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
