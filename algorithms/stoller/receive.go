package stoller

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyForeign = reasons.Kind("foreign", "%s is no message of Stoller's bully -> drop it")

// Receive handles HALT, its answers, and NOT_NORM.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case Halt:
		r.onHalt(msg.From, b.Candidate)
	case Halted:
		r.onAck(msg.From)
	case Reject:
		r.onReject(msg.From, b.Above)
	case NotNorm:
		r.onNotNorm(msg.From, b.Self)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

var (
	whyHaltAside = reasons.Kind("halt-aside", "%d wants to lead, and this node stands aside -> stop").
			Follows(stops)
	whyRejectFor = reasons.Kind("reject-for", "this node waits for %d, which ranks above %d -> reject",
		algorithms.Outranks(1, 0)).
		Follows(rejects)
	whyReject = reasons.Kind("reject", "%d ranks below this node -> reject, and stand",
		algorithms.Outranks(0, algorithms.Self)).
		Follows(rejects)
	whyStop = reasons.Kind("stop", "%d wants to lead -> stop, and wait for it",
		algorithms.Outranks(algorithms.Self, 0)).
		Follows(stops)
)

// onHalt makes this node stop for a candidate, unless this node ranks above the candidate, or waits for
// a process that ranks above it. If this node led an earlier term, adopting the new term has ended that.
//
// After Stoller: a process that is halted stops what it does, and waits for whoever halted it; one
// that follows or waits for a higher process rejects.
func (r *round) onHalt(from proto.NodeID, c proto.Peer) {
	self := r.core.Self()
	switch {
	case r.core.Decided(KindHalt, from):
	case r.core.Aside():
		r.core.Why(whyHaltAside, from)
		r.core.Send(from, Halted{})
	case r.phase == waiting && r.top.Above(c) && !r.core.Out(r.top):
		r.core.Why(whyRejectFor, r.top.ID, from)
		r.core.Send(from, Reject{Above: r.top})
	case self.Above(c) && r.core.MayStand():
		r.core.Why(whyReject, from)
		r.core.Send(from, Reject{Above: self})
		if r.phase == idle {
			r.Begin()
		}
	default:
		r.core.Why(whyStop, from)
		r.enter(waiting, c)
		r.core.Send(from, Halted{})
		r.core.SetTimer(LeaderTimeout(r.core.Delta()))
	}
}

var (
	whyWithout = reasons.Kind("without", "%d stands aside -> do without it")
	whyStopped = reasons.Kind("stopped", "all others have stopped").
			Follows(allStopped)
)

// onAck notes that another process has stopped, or that a process which this node asked to be a
// candidate stands aside.
func (r *round) onAck(from proto.NodeID) {
	acked, asked := r.halted[from]
	switch {
	case r.phase == asking && (from == r.top.ID || r.again):
		r.core.Why(whyWithout, from)
		r.aside[from] = true
		r.stillAsking(r.top.ID == from)
	case r.phase == halting && asked && !acked:
		r.halted[from] = true
		r.acks++
		r.leadIfAll(whyStopped.Of())
	}
}

var (
	whyRejectsBelow = reasons.Kind("rejects-below",
		"%d waits for %d, which does not rank above this node -> ask it again")
	whyRejectsDead = reasons.Kind("rejects-dead", "%d waits for %d, which is dead -> ask it again")
	whyRejects     = reasons.Kind("rejects", "%d rejects, and ranks above this node -> wait for it",
		algorithms.Outranks(algorithms.Self, 0))
	whyWaitsToo = reasons.Kind("waits-too", "%d waits for %d, which ranks above this node -> wait for it too",
		algorithms.Outranks(algorithms.Self, 1))
)

// onReject gives way to the process that a REJECT names, if it ranks above this node. If that process is
// dead, the sender of REJECT will notice the death, too, and this node asks the sender again later.
func (r *round) onReject(from proto.NodeID, above proto.Peer) {
	switch {
	case r.phase != halting:
	case !above.Above(r.core.Self()):
		r.core.Why(whyRejectsBelow, from, above.ID)
	case r.core.Dead(above):
		r.core.Why(whyRejectsDead, from, above.ID)
	case above.ID == from:
		r.core.Why(whyRejects, from)
		r.await(above)
	default:
		r.core.Why(whyWaitsToo, from, above.ID)
		r.await(above)
	}
}

var (
	whyAskedAside   = reasons.Kind("asked-aside", "%d asks but this node stands aside -> say so")
	whyAskedAbove   = reasons.Kind("asked-above", "%d asks and ranks above this node -> do not answer")
	whyAskedHalting = reasons.Kind("asked-halting", "%d asks, and this node halts the others still -> halt it again")
	whyAskedBegun   = reasons.Kind("asked-begun", "%d asks, and this node has begun already -> go on")
	whyAskedStand   = reasons.Kind("asked-stand", "%d knows no leader -> stand for it")
)

// onNotNorm makes this node a candidate because a lower process knows no leader, unless this node
// already takes part in the round. If this node has already sent HALT, it sends HALT again: so a halted
// process that asks learns that this node goes on, and waits longer.
func (r *round) onNotNorm(from proto.NodeID, p proto.Peer) {
	switch {
	case r.core.Decided(KindNotNorm, from):
	case r.core.Aside():
		r.core.Why(whyAskedAside, from)
		r.core.Send(from, Halted{})
	case p.Above(r.core.Self()):
		r.core.Why(whyAskedAbove, from)
	case r.phase == halting:
		r.core.Why(whyAskedHalting, from)
		r.core.Send(from, Halt{Candidate: r.core.Self()})
	case r.phase != idle:
		r.core.Why(whyAskedBegun, from)
	default:
		r.core.Why(whyAskedStand, from)
		r.Begin()
	}
}
