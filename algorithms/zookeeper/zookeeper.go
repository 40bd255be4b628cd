package zookeeper

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// WatchTimeout returns how long a process leaves the election to the next in line: until that one has
// noticed the loss, too, at most a Delta later, and NEW_LEADER, ACK and COMMIT have come.
func WatchTimeout(delta time.Duration) time.Duration { return 4 * delta }

// ExistsTimeout returns how long a process waits for EXISTS: the way of WATCH and the way back.
func ExistsTimeout(delta time.Duration) time.Duration { return 2 * delta }

// AckTimeout returns how long a candidate waits for a quorum of ACK: the way of NEW_LEADER and the way
// of ACK.
func AckTimeout(delta time.Duration) time.Duration { return 2 * delta }

// CommitTimeout returns how long a process that got EXISTS waits for COMMIT: until the other process has
// sent WATCH up to the highest process, with one dead process on the way, and NEW_LEADER, ACK and COMMIT
// have come.
func CommitTimeout(delta time.Duration, n int) time.Duration {
	return time.Duration(n+2)*delta + ExistsTimeout(delta)
}

// Patience bounds a whole round without failures.
func Patience(delta time.Duration, n int) time.Duration { return CommitTimeout(delta, n) }

// phase says how far this process has come in the round of the current term.
type phase int

const (
	idle     phase = iota // no part yet, or the round is over
	watching              // the leader is gone, and the next in line calls the election
	asking                // WATCH sent
	waiting               // EXISTS came
	acked                 // ACK sent, COMMIT to come
	standing              // NEW_LEADER sent
)

// round is one process's part in the election. It is the nomination.Round of core.
type round struct {
	core   nomination.Core
	voters quorum.Voters

	lost algorithms.Reason // why an election is needed, while watching

	// The round of the current term.
	phase   phase
	watched proto.Peer            // the process next above
	silent  map[proto.NodeID]bool // the processes that did not answer WATCH in time
	self    proto.Peer            // this process, as it is a candidate in the term
	acks    quorum.Count

	ack vote // Reset keeps it, since a process sends ACK for only one process in a term
}

// vote is the process to which this process has sent ACK in a term, or this process itself.
type vote struct {
	term proto.Term
	to   proto.Peer
}

// New returns the Machine of the process that cfg describes. cfg names the voters.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{voters: cfg.Voters, silent: map[proto.NodeID]bool{}}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Heard(proto.Message)     { r.Reset() }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Question() proto.Body    { return Watch{Self: r.core.Self()} }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return Commit{Leader: leader}
}

// Reset forgets the round, but not the ACK: a process sends ACK for only one process in a term.
func (r *round) Reset() {
	r.phase, r.watched, r.self, r.lost = idle, proto.Peer{}, proto.Peer{}, algorithms.Reason{}
	r.acks.Reset()
	clear(r.silent)
}

var (
	whyLeave = reasons.Kind("leave", "%s -> leave the election to the next in line")
	whyWatch = reasons.Kind("watch", "%d is the next above -> watch it, it sees to the election",
		algorithms.Outranks(algorithms.Self, 0)).
		Follows("Each process monitors next-highest ID process (successor)")
	whyWatchNext = reasons.Kind("watch-next", "%d is the next above now -> watch it",
		algorithms.Outranks(algorithms.Self, 0))
)

// Lost implements nomination.Succession: one process calls the election, the next in line, which has the
// leader next above it. The others wait first, and call one only if nothing comes of that.
//
// Lecture notes: "On detection of failure in successor: If successor was the Leader, you become the
// leader. Else, wait until timeout, re-check successor."
func (r *round) Lost(reason algorithms.Reason) (waits bool) {
	next, above := r.next()
	if !above {
		return false
	}
	r.core.Why(whyLeave, reason)
	r.core.Why(whyWatch, next.ID)
	r.phase, r.watched, r.lost = watching, next, reason
	r.core.SetTimer(WatchTimeout(r.core.Delta()))
	return true
}

// call calls the election that this process has left to the next in line.
func (r *round) call() {
	lost := r.lost
	r.Reset()
	r.core.StopTimer()
	r.core.Call(lost)
}

// Begin starts an election: this process stands, or asks the next above, which may not know of the
// election yet.
func (r *round) Begin() {
	if next, above := r.next(); above {
		r.watch(next)
		return
	}
	r.stand()
}

// next returns the process with the next higher number that may be a candidate, as far as this process
// knows. ok is false if there is none.
//
// Lecture notes: "Each process monitors next-highest ID process (successor)."
func (r *round) next() (next proto.Peer, ok bool) {
	self, former := r.core.Self(), r.core.Former()
	r.core.Peers(func(p proto.Peer) {
		out := p.Ineligible || p.Is(former) || r.silent[p.ID]
		if !out && p.Above(self) && (!ok || next.Above(p)) {
			next, ok = p, true
		}
	})
	return next, ok
}

var whyAskWatched = reasons.Kind("ask-watched", "%d is the next above -> ask whether it is there",
	algorithms.Outranks(algorithms.Self, 0)).
	Follows("Wait until timeout; Re-check successor")

// watch asks the next higher process whether it is alive. The question also passes the call of the
// election on.
func (r *round) watch(next proto.Peer) {
	r.core.Why(whyAskWatched, next.ID)
	r.phase, r.watched = asking, next
	r.core.Send(next.ID, r.Question())
	r.core.SetTimer(ExistsTimeout(r.core.Delta()))
}

// climb goes on with the next higher process after the watched process failed. If no higher process is
// left, this process becomes a candidate.
//
// Lecture notes: "The leader will be the server with highest number."
func (r *round) climb() {
	if next, above := r.next(); !above || !next.Is(r.watched) {
		r.Begin()
	}
}

var (
	whyNoAnswer = reasons.Kind("no-answer", "%d does not answer -> as if it had failed")
	whyNoCommit = reasons.Kind("no-commit", "no COMMIT came in time", algorithms.Caused(algorithms.RoundFailed))
	whyNoQuorum = reasons.Kind("no-quorum", "no quorum of ACK came in time",
		algorithms.Caused(algorithms.RoundFailed)).
		Follows("Potentially, no Leader gets a Quorum!")
)

// Timeout handles the end of a wait. The phase says what this process waited for.
func (r *round) Timeout() {
	switch r.phase {
	case idle:
	case watching:
		r.call()
	case asking:
		r.core.Why(whyNoAnswer, r.watched.ID)
		r.silent[r.watched.ID] = true
		r.climb()
	case waiting, acked:
		r.core.Call(whyNoCommit.Of())
	case standing:
		r.core.Call(whyNoQuorum.Of())
	}
}

// PeersChanged reacts when the watched process, or the candidate that this process follows, has
// failed.
func (r *round) PeersChanged(gone []proto.Peer) {
	if !r.core.Taking() {
		return
	}
	switch r.phase {
	case watching:
		switch next, above := r.next(); {
		case !above:
			r.call()
		case !next.Is(r.watched):
			r.core.Why(whyWatchNext, next.ID)
			r.watched = next
		}
	case asking, waiting:
		if r.core.Out(r.watched) {
			r.climb()
		}
	case acked:
		if r.core.Dead(r.ack.to) {
			r.core.CallWithout(r.ack.to)
		}
	case idle, standing:
	}
}

// Won sends COMMIT to all.
//
// Lecture notes: "Leader who receives quorum of ACKs broadcasts COMMIT."
func (r *round) Won() {
	r.Reset()
	r.core.TellAll()
}
