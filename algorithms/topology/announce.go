package topology

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"

	"github.com/ringleader-dev/ringleader/proto"
)

// Announce sends the new leader's announcement round the ring, and starts the wait for the announcement
// to come home.
//
// Lecture notes: "This process then sends an Elected message to its neighbor
// with its id, announcing the election result."
func (r *Ring) Announce(body proto.Body) {
	r.Send(Clockwise, body)
	if r.sent[Clockwise].to != 0 {
		r.core.SetTimer(Trip(r.core.Delta(), r.core.Size()+1))
	}
}

var (
	whyHome = reasons.Kind("home", "%s is home -> all on the ring know")
	whyFar  = reasons.Kind("far", "%s made %d hops -> pass it on no further")
)

// Announcement returns the ELECTED that tells one node directly who leads: an ELECTED without hops is
// not passed on.
func (r *Ring) Announcement(leader proto.Peer) proto.Body { return Elected{Leader: leader} }

// Won sends ELECTED round the ring.
func (r *Ring) Won() { r.Announce(Elected{Leader: r.core.Leader(), Hops: 1}) }

// Heard passes ELECTED on.
func (r *Ring) Heard(msg proto.Message) {
	if b, ok := msg.Body.(Elected); ok {
		r.PassOn(b.Hops, Elected{Leader: b.Leader, Hops: b.Hops + 1})
	}
}

// PassOn passes on an announcement that has made this many hops. The parameter onward is the message to
// send. An announcement with hops 0 was sent to this node alone and is not passed on.
//
// Lecture notes: "sets its variable elected <- id of the message; forwards the message unless it is
// the new coordinator".
func (r *Ring) PassOn(hops uint64, onward proto.Body) {
	switch kind := onward.Kind(); {
	case hops == 0:
	case r.core.Leading():
		if r.core.TimerRuns() {
			r.core.Why(whyHome, kind)
			r.core.StopTimer()
		}
	case r.TooFar(hops):
		r.core.Why(whyFar, kind, hops)
	default:
		r.Send(Clockwise, onward)
	}
}

var whyOrphan = reasons.Kind("orphan", "%s made %d hops -> drop it")

// Stops reports whether a call of an election ends at this node because the term already has a leader,
// or because the message went round too often. kind is the kind of the call.
func (r *Ring) Stops(kind proto.Kind, initiator proto.NodeID, hops uint64) bool {
	switch {
	case !r.core.Looking():
		r.decided(kind, initiator)
	case r.TooFar(hops):
		r.core.Why(whyOrphan, kind, hops)
	default:
		return false
	}
	return true
}

var (
	whyUnheard       = reasons.Kind("unheard", "leader %d was not heard of late -> do not answer")
	whyLed           = reasons.Kind("led", "%d leads term %d already -> drop %s")
	whyTellInitiator = reasons.Kind("tell-initiator", "%d leads term %d already -> tell initiator %d")
)

// decided handles a call of an election in a term that already has a leader. The initiator of the call
// started late, and this node tells the initiator who leads.
func (r *Ring) decided(kind proto.Kind, initiator proto.NodeID) {
	leader := r.core.Leader().ID
	if !r.core.Vouches() {
		r.core.Why(whyUnheard, leader)
		return
	}
	if initiator == r.core.Self().ID || initiator == leader {
		r.core.Why(whyLed, leader, r.core.Term(), kind)
		return
	}
	r.core.Why(whyTellInitiator, leader, r.core.Term(), initiator)
	r.core.Tell(initiator)
}

// AskTimeout returns how long a participant that heard no announcement waits after it asked its
// successor who leads: the time there and back.
func AskTimeout(delta time.Duration) time.Duration { return 2 * delta }

var (
	whyLate         = reasons.Kind("late", "no %s came in %s", algorithms.Caused(algorithms.RoundFailed))
	whyNotHome      = reasons.Kind("not-home", "%s did not come home -> tell all directly")
	whyAskSuccessor = reasons.Kind("ask-successor", "%s -> ask the successor who leads")
)

// Timeout ends a wait: the leader's wait for its announcement to come home, or a participant's wait for
// that announcement. kind is the announcement's kind. The parameter than says in words how long the wait
// was.
//
// Lecture notes: "Receives an election message but times out waiting for an elected message".
func (r *Ring) Timeout(kind proto.Kind, than string) {
	late := whyLate.Of(kind, than)
	switch next := r.Neighbour(Clockwise); {
	case r.core.Leading():
		r.core.Why(whyNotHome, kind)
		r.core.TellAll()
	case r.asked || next == 0:
		r.core.Call(late)
	default:
		r.core.Why(whyAskSuccessor, late)
		r.asked = true
		r.core.Send(next, r.question())
		r.core.SetTimer(AskTimeout(r.core.Delta()))
	}
}

// Asked reports whether this node has asked its successor who leads. A message that comes after that may
// be the answer, and not a repetition.
func (r *Ring) Asked() bool { return r.asked }
