package ring

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// Receive handles ELECTION.
func (r round) Receive(msg proto.Message) {
	b, ok := msg.Body.(proto.RingElection)
	switch {
	case !ok:
		r.core.Refuse("%s is no message of the ring algorithm -> drop it", msg.Body.Kind())
	case r.ring.Stops(b.Kind(), b.Initiator, b.Hops):
	case b.Initiator < r.initiator:
		// "Each process suppresses Election/Elected messages of any lower-id
		// initiators".
		r.core.Why("initiator %d is below %d -> suppress its ELECTION", b.Initiator, r.initiator)
	default:
		r.compare(b)
	}
}

// compare passes on the better of the message's candidate and this node.
func (r round) compare(b proto.RingElection) {
	self := r.core.Self()
	// "Updates cache if receives higher-id initiator's Election/Elected message".
	first := b.Initiator > r.initiator
	r.initiator = b.Initiator
	order := b.Best.Rank().Compare(self.Rank())
	switch {
	case b.Best.Is(self):
		r.comeBack()
	case !first && b.Best.Is(r.best) && !r.ring.Asked():
		r.core.Why("this node passed %d on before -> drop ELECTION", b.Best.ID)
	case b.Best.ID == self.ID:
		r.core.Why("ELECTION names a former life of this node -> drop it")
	case r.core.Dead(b.Best):
		r.core.CallWithout(b.Best)
	case r.core.Out(b.Best) && !r.core.MayStand():
		r.forward(b, "does not stand, nor does this node -> pass it on")
	case order > 0 && r.core.Out(b.Best):
		r.core.CallWithout(b.Best)
	case order > 0 && r.ring.Skips(topology.Clockwise, b.Best.ID) && r.core.MayStand():
		r.core.Why("%d ranks above this node but is not on its ring -> put itself in its place",
			b.Best.ID)
		b.Best = self
		r.onward(b)
	case order > 0:
		// "If the arrived attr is greater, pi forwards the message."
		r.forward(b, "ranks above this node -> pass it on")
	case !r.core.MayStand():
		r.forward(b, "ranks below this node, which does not stand -> pass it on")
	case first:
		// "If the arrived attr is smaller and pi has not forwarded an election
		// message earlier, it overwrites the message with its own id:attr, and
		// forwards it."
		below := b.Best.ID
		b.Best = self
		r.core.Why("%d ranks below this node -> put itself in its place", below)
		r.onward(b)
	default:
		// It has: its own id:attr is on its way, or a better one. Without this
		// rule the message would circulate for ever.
		r.core.Why("%d ranks below what this node passed on -> drop it", b.Best.ID)
	}
}

// comeBack handles this node's own id:attr.
//
// Lecture notes: "If the arrived id:attr matches that of pi, then pi's attr
// must be the greatest (why?), and it becomes the new coordinator." Because the
// message passed every other process, and none put itself in its place.
func (r round) comeBack() {
	if !r.core.MayStand() {
		r.core.Why("its own id:attr is back, but it stands aside -> drop it")
		return
	}
	r.core.Win("its own id:attr is back")
}

func (r round) forward(b proto.RingElection, why string) {
	r.core.Why("%d %s", b.Best.ID, why)
	r.onward(b)
}

func (r round) onward(b proto.RingElection) {
	b.Hops++
	r.pass(b)
}
