package consensus

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// AnswerTimeout returns how long a proposer waits for PROMISE, or for ACCEPTED: the way of its question and
// the way back. The chosen process has the same time to announce itself.
func AnswerTimeout(delta time.Duration) time.Duration { return 2 * delta }

// ListenTimeout returns how long a process leaves proposing to the processes above it. It adds the time
// of a round, and the time of one message for each process above except the first, so that the process
// hears of an earlier proposer.
func ListenTimeout(delta time.Duration, above int) time.Duration {
	return Patience(delta, 0) + time.Duration(min(above, mostAwaited)-1)*delta
}

// mostAwaited is the largest number of higher processes for which ListenTimeout adds time. It
// rarely happens that more proposers fail one after the other.
const mostAwaited = 4

// ChosenTimeout returns how long a process that accepted a value waits for CHOSEN: the way of ACCEPTED,
// of CHOSEN to the chosen process, and of CHOSEN to all, and the time of one message more.
func ChosenTimeout(delta time.Duration) time.Duration { return 4 * delta }

// Patience bounds a whole round without failures: PREPARE, PROMISE, ACCEPT, ACCEPTED,
// and CHOSEN twice.
func Patience(delta time.Duration, _ int) time.Duration { return 6 * delta }

// phase says how far this process has come in the round of the current term.
type phase int

const (
	idle      phase = iota // no part yet, or the round is over
	listening              // others propose
	preparing              // PREPARE sent
	accepting              // ACCEPT sent
	telling                // another was chosen, and this process told it
	accepted               // ACCEPTED sent, CHOSEN not here yet
)

// round is one process's part as proposer, acceptor and learner. It is the nomination.Round of
// core.
type round struct {
	core   nomination.Core
	voters quorum.Voters
	phase  phase

	// What the proposer knows, in the round of the current term.
	ballot   paxos.Ballot
	own      proto.Peer // what this process proposes; nobody if it is no candidate
	insists  bool       // this process proposes only itself, because it was asked to lead
	promises quorum.Count
	last     paxos.Ballot // the highest ballot that a promise tells of
	bound    proto.Peer   // the value that was accepted in ballot last
	best     proto.Peer   // the highest-ranked proposal
	value    proto.Peer
	accepts  quorum.Count

	acceptor acceptor
}

// acceptor has what a process must remember of a term: its promise, the value that it accepted, and the
// highest round of a ballot that it heard of. It is kept when the round is reset, since a round of the
// same term may begin anew for this process.
type acceptor struct {
	term     proto.Term
	round    uint64
	promised paxos.Ballot
	last     paxos.Ballot
	value    proto.Peer // the value accepted in ballot last
}

// New returns the Machine of the process that cfg describes. cfg names the voters.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{voters: cfg.Voters}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Heard(proto.Message)     { r.Reset() }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return Chosen{Leader: leader, Taken: true}
}

func (r *round) Question() proto.Body { return Enquiry{Self: r.core.Self()} }

// Reset forgets the round, but not what this process promised and accepted.
func (r *round) Reset() {
	r.phase, r.ballot, r.own, r.insists = idle, paxos.Ballot{}, proto.Peer{}, false
	r.last, r.bound, r.best, r.value = paxos.Ballot{}, proto.Peer{}, proto.Peer{}, proto.Peer{}
	r.promises.Reset()
	r.accepts.Reset()
}

var whyLeave = reasons.Kind("leave", "%d above this node -> leave the proposing to them")

// Begin starts an election.
//
// Lecture notes: "Each process proposes a value." When a leader is lost, all processes begin at
// once. The highest one proposes first; the others answer with their proposals.
func (r *round) Begin() {
	if above := r.above(r.core.Self()); above > 0 && r.core.Former().ID != 0 {
		r.core.Why(whyLeave, above)
		r.listen(ListenTimeout(r.core.Delta(), above))
		return
	}
	r.propose()
}

// listen makes this process wait for others to propose.
func (r *round) listen(d time.Duration) {
	r.phase = listening
	if !r.core.Aside() {
		r.core.SetTimer(d)
	}
}

// above counts the processes that rank above other, that may be candidates as far as this process
// knows, and that have not promised.
func (r *round) above(other proto.Peer) (n int) {
	former := r.core.Former()
	r.core.Peers(func(p proto.Peer) {
		silent := !p.Ineligible && !p.Is(former) && !r.promises.Has(p.ID)
		if silent && p.Above(other) {
			n++
		}
	})
	return n
}

// state returns what this process promised and accepted in the current term.
func (r *round) state() *acceptor {
	if r.acceptor.term != r.core.Term() {
		r.acceptor = acceptor{term: r.core.Term()}
	}
	return &r.acceptor
}

var (
	whyNothingChosen = reasons.Kind("nothing-chosen", "nothing was chosen in time -> propose")
	whyNoPromises    = reasons.Kind("no-promises", "no majority promised in time",
		algorithms.Caused(algorithms.RoundFailed))
	whyNoAccepts = reasons.Kind("no-accepts", "no majority accepted in time",
		algorithms.Caused(algorithms.RoundFailed))
	whyNoChosen = reasons.Kind("no-chosen", "no CHOSEN came in time", algorithms.Caused(algorithms.RoundFailed))
)

// Timeout handles the end of a wait. The phase says what this process waited for.
func (r *round) Timeout() {
	switch r.phase {
	case idle:
	case listening:
		r.core.Why(whyNothingChosen)
		r.propose()
	case preparing:
		if r.promises.Of(r.voters) {
			r.accept()
			return
		}
		r.core.Call(whyNoPromises.Of())
	case accepting:
		r.core.Call(whyNoAccepts.Of())
	case telling, accepted:
		r.core.Call(whyNoChosen.Of())
	}
}

var whyHighest = reasons.Kind("highest", "nobody is above this node now -> propose")

// PeersChanged stops waiting for processes that are dead.
func (r *round) PeersChanged(gone []proto.Peer) {
	if !r.core.Taking() {
		return
	}
	switch r.phase {
	case listening:
		if len(gone) > 0 && r.above(r.core.Self()) == 0 {
			r.core.Why(whyHighest)
			r.propose()
		}
	case preparing:
		r.acceptIfReady()
	case accepting, telling:
		r.giveUp(r.value)
	case accepted:
		r.giveUp(r.state().value)
	case idle:
	}
}

// giveUp calls an election of the next term if value is a process that died during this term.
func (r *round) giveUp(value proto.Peer) {
	if r.core.Dead(value) {
		r.core.CallWithout(value)
	}
}

// Won sends CHOSEN to all.
func (r *round) Won() {
	r.Reset()
	r.core.TellAll()
}
