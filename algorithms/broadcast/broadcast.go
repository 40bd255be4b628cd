package broadcast

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// IDTimeout returns how long a process waits for the IDs of all others: the way of its own ID there and
// the way of the other IDs back.
func IDTimeout(delta time.Duration) time.Duration { return 2 * delta }

// CoordinatorTimeout returns how long a process that knows a larger ID waits for COORDINATOR. The
// process with the largest ID hears of the round within a delta, waits an IDTimeout for processes that
// are dead, and announces itself.
func CoordinatorTimeout(delta time.Duration) time.Duration {
	return delta + IDTimeout(delta) + delta
}

// Patience bounds a whole round without failures: the call, the wait for IDs,
// COORDINATOR.
func Patience(delta time.Duration, _ int) time.Duration { return CoordinatorTimeout(delta) }

// phase says how far this node has come in the round of the current term.
type phase int

const (
	idle       phase = iota // no own part yet, or the round is over
	collecting              // own ID sent, others' IDs to come
	waiting                 // a larger ID is known, no COORDINATOR so far
)

// round is one node's part in the broadcast. It is the nomination.Round of core.
type round struct {
	core  nomination.Core
	phase phase
	ids   map[proto.NodeID]proto.Peer // the IDs received in the round of the current term
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{ids: map[proto.NodeID]proto.Peer{}}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Heard(proto.Message)     { r.Reset() }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Question() proto.Body    { return Identity{Self: r.core.Self()} }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return nomination.Coordinator{Leader: leader}
}

func (r *round) Reset() {
	r.phase = idle
	clear(r.ids)
}

// Begin starts an election.
//
// Lecture notes: "When a process starts an election, it broadcasts a message to every other process."
// The message is the caller's ID, so nobody needs to ask the caller for its ID.
func (r *round) Begin() {
	r.phase = collecting
	r.core.SendAll(r.Question())
	r.core.SetTimer(IDTimeout(r.core.Delta()))
	r.decideIfAll()
}

var whyForeign = reasons.Kind("foreign", "%s is no message of the broadcast -> drop it")

// Receive handles ID.
func (r *round) Receive(msg proto.Message) {
	b, ok := msg.Body.(Identity)
	switch {
	case !ok:
		r.core.Refuse(whyForeign, msg.Body.Kind())
	case r.core.Asked(msg.From):
	default:
		r.id(b.Self)
	}
}

var whyID = reasons.Kind("id", "%d sends its id -> send mine to all").
	Follows("Upon receiving this message, every process broadcast its ID to every other process")

// id stores the ID of another process, and broadcasts this process's own ID if it has not done so in
// this round.
//
// Lecture notes: "Upon receiving this message, every process broadcasts its ID to every other
// process."
func (r *round) id(p proto.Peer) {
	r.ids[p.ID] = p
	switch r.phase {
	case idle:
		r.core.Why(whyID, p.ID)
		r.Begin()
	case collecting:
		r.decideIfAll()
	}
}

var whyAllHere = reasons.Kind("all-here", "all ids are here").
	Follows("After receiving all IDs, each process decides the process with the largest ID is the leader")

// decideIfAll decides once the IDs of all processes in the view are here. A process that is not
// eligible sends none.
//
// Lecture notes: "After receiving all IDs, each process decides the process with the largest ID is
// the leader."
func (r *round) decideIfAll() {
	wanted := 0
	r.core.Peers(func(p proto.Peer) {
		if !p.Ineligible {
			wanted++
		}
	})
	all := len(r.ids) >= wanted
	if !all {
		return
	}
	r.core.Peers(func(p proto.Peer) {
		_, ok := r.ids[p.ID]
		all = all && (ok || p.Ineligible)
	})
	if all {
		r.decide(whyAllHere.Of())
	}
}

var (
	whyWait = reasons.Kind("wait", "%s, %d is the largest -> wait for COORDINATOR",
		algorithms.Outranks(algorithms.Self, 1))
	whyLargest = reasons.Kind("largest", "%s, mine is the largest")
)

// decide makes this node lead if no known ID is larger. Otherwise the node waits for the
// COORDINATOR of the largest.
func (r *round) decide(cause algorithms.Reason) {
	largest := r.core.Self()
	for _, p := range r.ids {
		if p.Above(largest) && !r.core.Out(p) {
			largest = p
		}
	}
	switch {
	case largest.ID != r.core.Self().ID:
		r.core.Why(whyWait, cause, largest.ID)
		r.phase = waiting
		r.core.SetTimer(CoordinatorTimeout(r.core.Delta()))
	default:
		r.core.Take(whyLargest.Of(cause))
	}
}

var (
	whyNoMore        = reasons.Kind("no-more", "no more ids came in time")
	whyNoCoordinator = reasons.Kind("no-coordinator", "no COORDINATOR came in time",
		algorithms.Caused(algorithms.RoundFailed))
)

// Timeout handles the end of a wait: for IDs, or for COORDINATOR.
func (r *round) Timeout() {
	switch r.phase {
	case idle:
	case collecting:
		r.decide(whyNoMore.Of())
	case waiting:
		r.core.Call(whyNoCoordinator.Of())
	}
}

var whyOneGone = reasons.Kind("one-gone", "one that sent its id is gone", algorithms.Skips{})

// PeersChanged stops waiting for processes that are dead.
func (r *round) PeersChanged(gone []proto.Peer) {
	for _, p := range gone {
		if r.ids[p.ID].Is(p) {
			delete(r.ids, p.ID)
		}
	}
	switch {
	case !r.core.Looking():
	case r.phase == collecting:
		r.decideIfAll()
	case r.phase == waiting && len(gone) > 0:
		r.decide(whyOneGone.Of())
	}
}

// Won announces this node to all.
func (r *round) Won() {
	r.Reset()
	r.core.TellAll()
}
