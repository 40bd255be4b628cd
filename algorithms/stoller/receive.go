package stoller

import "github.com/ringleader-dev/ringleader/proto"

// Receive handles HALT, its answers, and NOT_NORM.
func (r round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.Halt:
		r.onHalt(msg.From, b.Candidate)
	case proto.Halted:
		r.onAck(msg.From)
	case proto.Reject:
		r.onReject(msg.From, b.Above)
	case proto.NotNorm:
		r.onNotNorm(msg.From, b.Self)
	default:
		r.core.Refuse("%s is no message of Stoller's bully -> drop it", b.Kind())
	}
}

// onHalt stops for a candidate, unless this node waits for one that ranks above, or
// ranks above itself. That it leads no earlier term any more is the term's doing.
//
// After Stoller: a process that is halted stops what it does, and waits for whoever
// halted it; one that follows or waits for a higher process rejects.
func (r round) onHalt(from proto.NodeID, c proto.Peer) {
	self := r.core.Self()
	switch {
	case r.core.Decided(proto.KindHalt, from):
	case r.core.Aside():
		r.core.Why("%d wants to lead, and this node stands aside -> stop", from)
		r.core.Send(from, proto.Halted{})
	case r.phase == waiting && r.top.Above(c) && !r.core.Out(r.top):
		r.core.Why("this node waits for %d, which ranks above %d -> reject", r.top.ID, from)
		r.core.Send(from, proto.Reject{Above: r.top})
	case self.Above(c) && r.core.MayStand():
		r.core.Why("%d ranks below this node -> reject, and stand", from)
		r.core.Send(from, proto.Reject{Above: self})
		if r.phase == idle {
			r.Begin()
		}
	default:
		r.core.Why("%d wants to lead -> stop, and wait for it", from)
		r.enter(waiting, c)
		r.core.Send(from, proto.Halted{})
		r.core.SetTimer(LeaderTimeout(r.core.Delta()))
	}
}

// onAck notes that another one has stopped, or that one that was asked to stand does
// not.
func (r round) onAck(from proto.NodeID) {
	acked, asked := r.halted[from]
	switch {
	case r.phase == asking && (from == r.top.ID || r.again):
		r.core.Why("%d stands aside -> do without it", from)
		r.aside[from] = true
		r.stillAsking(r.top.ID == from)
	case r.phase == halting && asked && !acked:
		r.halted[from] = true
		r.acks++
		r.leadIfAll("all others have stopped")
	}
}

// onReject gives way to one that ranks above. Whoever rejected for one that is dead
// will see that too, and is asked again.
func (r round) onReject(from proto.NodeID, above proto.Peer) {
	switch {
	case r.phase != halting:
	case !above.Above(r.core.Self()):
		r.core.Why("%d waits for %d, which does not rank above this node -> ask it again", from, above.ID)
	case r.core.Dead(above):
		r.core.Why("%d waits for %d, which is dead -> ask it again", from, above.ID)
	case above.ID == from:
		r.core.Why("%d rejects, and ranks above this node -> wait for it", from)
		r.await(above)
	default:
		r.core.Why("%d waits for %d, which ranks above this node -> wait for it too", from, above.ID)
		r.await(above)
	}
}

// onNotNorm stands for whoever knows no leader, unless this node has begun already. One
// that was halted, and asks what became of that, waits on when it hears that it goes on.
func (r round) onNotNorm(from proto.NodeID, p proto.Peer) {
	switch {
	case r.core.Decided(proto.KindNotNorm, from):
	case r.core.Aside():
		r.core.Why("%d asks but this node stands aside -> say so", from)
		r.core.Send(from, proto.Halted{})
	case p.Above(r.core.Self()):
		r.core.Why("%d asks and ranks above this node -> do not answer", from)
	case r.phase == halting:
		r.core.Why("%d asks, and this node halts the others still -> halt it again", from)
		r.core.Send(from, proto.Halt{Candidate: r.core.Self()})
	case r.phase != idle:
		r.core.Why("%d asks, and this node has begun already -> go on", from)
	default:
		r.core.Why("%d knows no leader -> stand for it", from)
		r.Begin()
	}
}
