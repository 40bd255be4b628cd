package ring

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	whyForeign  = reasons.Kind("foreign", "%s is no message of the ring algorithm -> drop it")
	whySuppress = reasons.Kind("suppress", "initiator %d is below %d -> suppress its ELECTION",
		algorithms.Suppresses(0, 1)).
		Follows("Each process suppresses Election/Elected messages of any lower-id initiators")
)

// Receive handles ELECTION.
func (r *round) Receive(msg proto.Message) {
	b, ok := msg.Body.(Election)
	switch {
	case !ok:
		r.core.Refuse(whyForeign, msg.Body.Kind())
	case r.Ring.Stops(b.Kind(), b.Initiator, b.Hops):
	case b.Initiator < r.initiator:
		r.core.Why(whySuppress, b.Initiator, r.initiator)
	default:
		r.compare(b)
	}
}

var (
	whyPassedBefore = reasons.Kind("passed-before", "this node passed %d on before -> drop ELECTION")
	whyFormerLife   = reasons.Kind("former-life", "ELECTION names a former life of this node -> drop it")
	whyNobodyStands = reasons.Kind("nobody-stands", "%d does not stand, nor does this node -> pass it on")
	whyOffRing      = reasons.Kind("off-ring",
		"%d ranks above this node but is not on its ring -> put itself in its place")
	whyAbove = reasons.Kind("above", "%d ranks above this node -> pass it on",
		algorithms.Outranks(algorithms.Self, 0)).
		Follows("If the arrived attr is greater, pi forwards the message.")
	whyBelowAside = reasons.Kind("below-aside", "%d ranks below this node, which does not stand -> pass it on")
	whyBelow      = reasons.Kind("below", "%d ranks below this node -> put itself in its place",
		algorithms.Outranks(0, algorithms.Self)).
		Follows("If the arrived attr is smaller and pi has not forwarded an election message earlier, it " +
			"overwrites the message with its own id:attr, and forwards it.")
	whyBelowPassed = reasons.Kind("below-passed", "%d ranks below what this node passed on -> drop it",
		algorithms.Outranks(0, algorithms.Self))
)

// compare passes ELECTION on with the better of two nodes: the best node so far, which the message
// names, or this node.
func (r *round) compare(b Election) {
	self := r.core.Self()
	// "Updates cache if receives higher-id initiator's Election/Elected message".
	first := b.Initiator > r.initiator
	r.initiator = b.Initiator
	order := b.Best.Rank().Compare(self.Rank())
	switch {
	case b.Best.Is(self):
		r.comeBack()
	case !first && b.Best.Is(r.best) && !r.Ring.Asked():
		r.core.Why(whyPassedBefore, b.Best.ID)
	case b.Best.ID == self.ID:
		r.core.Why(whyFormerLife)
	case r.core.Dead(b.Best):
		r.core.CallWithout(b.Best)
	case r.core.Out(b.Best) && !r.core.MayStand():
		r.forward(b, whyNobodyStands)
	case order > 0 && r.core.Out(b.Best):
		r.core.CallWithout(b.Best)
	case order > 0 && r.Ring.Skips(topology.Clockwise, b.Best.ID) && r.core.MayStand():
		r.core.Why(whyOffRing,
			b.Best.ID)
		b.Best = self
		r.onward(b)
	case order > 0:
		r.forward(b, whyAbove)
	case !r.core.MayStand():
		r.forward(b, whyBelowAside)
	case first:
		below := b.Best.ID
		b.Best = self
		r.core.Why(whyBelow, below)
		r.onward(b)
	default:
		// It has: its own id:attr is on its way, or a better one. Without this
		// rule the message would circulate for ever.
		r.core.Why(whyBelowPassed, b.Best.ID)
	}
}

var (
	whyBackAside = reasons.Kind("back-aside", "its own id:attr is back, but it stands aside -> drop it")
	whyBack      = reasons.Kind("back", "its own id:attr is back").
			Follows("If the arrived id:attr matches that of pi, then pi's attr must be the greatest (why?), " +
			"and it becomes the new coordinator.")
)

// comeBack handles this node's own id:attr, which has come all round the ring.
//
// Lecture notes: "If the arrived id:attr matches that of pi, then pi's attr must be the greatest (why?),
// and it becomes the new coordinator." Because the message passed every other process, and no other
// process wrote its own id:attr into it.
func (r *round) comeBack() {
	if !r.core.MayStand() {
		r.core.Why(whyBackAside)
		return
	}
	r.core.Win(whyBack.Of())
}

func (r *round) forward(b Election, why *algorithms.ReasonKind) {
	r.core.Why(why, b.Best.ID)
	r.onward(b)
}

func (r *round) onward(b Election) {
	b.Hops++
	r.pass(b)
}
