package bully

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// OKTimeout returns how long a node waits for an OK: the way of its ELECTION and the way of the OK.
func OKTimeout(delta time.Duration) time.Duration { return 2 * delta }

// CoordinatorTimeout returns how long a node that got OK waits for COORDINATOR. An ELECTION reaches the
// best node within a delta; the best node waits an OKTimeout for nodes that are dead, and announces
// itself. One more delta is added because the OK may have come early.
func CoordinatorTimeout(delta time.Duration) time.Duration {
	return delta + OKTimeout(delta) + delta + delta
}

// Patience bounds a whole round without failures, "5 message transmission times": ELECTION, OK,
// ELECTION, the timeout for the dead leader's answer, and COORDINATOR.
func Patience(delta time.Duration, _ int) time.Duration {
	return 4*delta + OKTimeout(delta)
}

// phase says how far this node has come in the round of the current term.
type phase int

const (
	idle     phase = iota // no own part yet, or the round is over
	asking                // ELECTION sent, no OK so far
	waiting               // told OK, no COORDINATOR so far
	askAgain              // told OK, no COORDINATOR in time, ELECTION sent again
)

// round is one node's part in the bully algorithm. It is the nomination.Round of core.
type round struct {
	core  nomination.Core
	phase phase
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Reset()                  { r.phase = idle }
func (r *round) Heard(proto.Message)     { r.phase = idle }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Question() proto.Body    { return Election{Candidate: r.core.Self()} }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return nomination.Coordinator{Leader: leader}
}

var whyNextInLine = reasons.Kind("next-in-line", "no higher node is alive").
	Follows("If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.")

// Begin starts an election.
//
// Lecture notes: "If you're next-in-line, Assume Leadership, Broadcasts
// COORDINATOR message. Else, you're not next-in-line: Send ELECTION to all
// higher-ranked processes".
func (r *round) Begin() {
	if !r.ask() {
		r.core.Take(whyNextInLine.Of())
		return
	}
	r.phase = asking
	r.core.SetTimer(OKTimeout(r.core.Delta()))
}

// ask sends ELECTION to every higher-ranked node, and reports whether there is one. It also asks the
// lost leader because of which this node called the round: the detector may be wrong, and a living
// leader answers.
func (r *round) ask() bool {
	election, self := r.Question(), r.core.Self().Rank()
	sent := r.core.SendWhere(election, func(p *proto.Peer) bool { return p.Rank().Compare(self) > 0 })
	if former := r.core.Former(); sent > 0 && r.isHigher(former) && !r.core.Lists(former.ID) {
		r.core.Send(former.ID, election)
	}
	return sent > 0
}

var whyForeign = reasons.Kind("foreign", "%s is no message of the bully algorithm -> drop it")

// Receive handles ELECTION and OK.
func (r *round) Receive(msg proto.Message) {
	switch body := msg.Body.(type) {
	case Election:
		r.election(msg.From, body.Candidate)
	case OK:
		r.ok(msg.From)
	default:
		r.core.Refuse(whyForeign, body.Kind())
	}
}

var (
	whyAsksLeader = reasons.Kind("asks-leader", "%d asks the leader of term %d -> say OK and who leads",
		algorithms.Outranks(0, algorithms.Self)).
		Follows("A process that receives an Election message replies with OK message, and starts its own " +
			"leader election protocol (unless it has already done so)")
	whyAbove = reasons.Kind("above", "%d ranks above this node -> do not answer",
		algorithms.Outranks(algorithms.Self, 0))
	whyBelow = reasons.Kind("below", "%d ranks below this node -> say OK", algorithms.Outranks(0, algorithms.Self)).
			Follows("A process that receives an Election message replies with OK message, and starts its own " +
			"leader election protocol (unless it has already done so)")
)

// election answers a lower-ranked node that calls an election.
//
// Lecture notes: "A process that receives an Election message replies with OK message, and starts
// its own leader election protocol (unless it has already done so)".
func (r *round) election(from proto.NodeID, candidate proto.Peer) {
	switch {
	case r.core.Leading():
		r.core.Why(whyAsksLeader, from, r.core.Term())
		r.core.Send(from, OK{})
		r.core.Tell(from)
	case r.core.Asked(from):
	case candidate.Above(r.core.Self()):
		r.core.Why(whyAbove, from)
	default:
		r.core.Why(whyBelow, from)
		r.core.Send(from, OK{})
		if r.phase == idle {
			r.Begin()
		}
	}
}

var whyWait = reasons.Kind("wait", "%d is higher and alive -> wait for COORDINATOR",
	algorithms.Outranks(algorithms.Self, 0)).
	Follows("Else, someone responded: Wait for COORDINATOR message")

// ok notes that a higher-ranked node is alive and goes on with the election.
//
// Lecture notes: "Else, someone responded: Wait for COORDINATOR message".
func (r *round) ok(from proto.NodeID) {
	if r.phase != asking {
		return
	}
	r.core.Why(whyWait, from)
	r.phase = waiting
	r.core.SetTimer(CoordinatorTimeout(r.core.Delta()))
}

var (
	whyNoOk = reasons.Kind("no-ok", "no higher node said OK in time").
		Follows("If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)")
	whyAskAgain = reasons.Kind("ask-again", "no COORDINATOR came in time -> ask again").
			Follows("If timeout waiting: Re-send ELECTION messages")
	whyNoCoordinator = reasons.Kind("no-coordinator", "no COORDINATOR came in time",
		algorithms.Caused(algorithms.RoundFailed)).
		Follows("If none received after another timeout, start a new election run")
)

// Timeout handles the end of a wait: for OK, or for COORDINATOR.
//
// Lecture notes: "If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)";
// "If timeout waiting: Re-send ELECTION messages"; "If none received after another timeout, start a
// new election run".
func (r *round) Timeout() {
	switch r.phase {
	case idle:
	case asking:
		r.core.Take(whyNoOk.Of())
	case waiting:
		r.core.Why(whyAskAgain)
		r.phase = askAgain
		r.ask()
		r.core.SetTimer(CoordinatorTimeout(r.core.Delta()))
	case askAgain:
		r.core.Call(whyNoCoordinator.Of())
	}
}

var whyHigherGone = reasons.Kind("higher-gone", "no higher node is alive any more", algorithms.Skips{}).
	Follows("If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.")

// PeersChanged makes this node the leader when no higher-ranked node is left in the view.
func (r *round) PeersChanged([]proto.Peer) {
	if r.phase != idle && !r.higherAlive() {
		r.core.Take(whyHigherGone.Of())
	}
}

// Won announces this node to all.
//
// Lecture notes: "it elects itself as coordinator, then sends a Coordinator
// message to all processes".
func (r *round) Won() {
	r.phase = idle
	r.core.TellAll()
}

func (r *round) isHigher(p proto.Peer) bool {
	return p.ID != 0 && p.Rank().Compare(r.core.Self().Rank()) > 0
}

func (r *round) higherAlive() bool {
	found, self := false, r.core.Self().Rank()
	r.core.Peers(func(p proto.Peer) { found = found || p.Rank().Compare(self) > 0 })
	return found
}
