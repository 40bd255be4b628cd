package lease

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// Party is one node's part in leases: the voter that promises, and whoever stands for
// the promises of others. A Machine embeds it.
//
// Invariants, between Steps:
//  1. State.Vote is durable, or in the Output of this Step.
//  2. Belief names this node exactly while it leads, and then until Stand.LeaseEnd.
//  3. While this node claims, leads or has work that must stop, its own voter is bound
//     to it.
type Party struct {
	Cfg    algorithms.Config
	Voters quorum.Voters
	list   listing
	misled bool // what is saved forbids this list: it votes for nobody
	Words  Words
	every  time.Duration // a leader asks for the promises anew
	dice   *rand.Rand

	Alive []proto.Peer
	Self  proto.Peer

	Resigned bool      // asked to, and not called since: never stand
	Barred   string    // why the host does not let this node stand, "" if it does
	Recess   time.Time // until then this node does not stand: too many attempts failed

	State     algorithms.State
	Dirty     bool
	Voter     Voter
	Stand     Stand
	Handing   Transfer
	preferred Preference
	Rejoin    Rejoin
	Told      Rejoin // what this voter was told when it was last let vote
	unvoted   bool   // nothing of a vote was saved when this voter started, nor has it voted since
	collect   collect
	jumps     jumps
	Belief    algorithms.Leader
	Known     proto.Term  // the highest that a voter is known to have voted in
	Seen      proto.Epoch // the highest leadership that was heard of

	due  time.Time // the Deadline of the Step before
	woke time.Time // when a Step last came far too late for that

	// The Step in progress.
	Now    time.Time
	Out    algorithms.Output
	outbox algorithms.Outbox
}

// Words are how an algorithm says in its reasons what all do.
type Words struct {
	Leads    string // what a leader does
	Attempts string // what a candidate makes, of which some fail
	Claim    string // what a candidate does that would win
	Leader   string // what there is, once one does
	Grant    string // what a voter does, with the node and the term
	Denied   string // what it then did not do
	LeadOn   string // what a leader does whose offer to hand over came to nothing
	Offer    string // what a leader does that hands over, before the node
	Offers   string // the same, of another
	Held     string // what it hands over
	Prefer   string // what it does of itself, for a better node
}

// New returns the part of the node that cfg describes, whose leaders ask for the promises
// anew so often. cfg names the voters, and a promise of at least MinPromise.
func New(cfg algorithms.Config, every time.Duration, words Words) Party {
	return Party{
		Cfg: cfg, Voters: cfg.Voters, Words: words, every: every,
		dice: rand.New(rand.NewPCG(cfg.Seed, ^cfg.Seed)),
		Self: proto.Peer{ID: cfg.Self, Session: cfg.Session},
		Voter: Voter{
			Dead:    map[proto.NodeID]proto.Session{},
			waiting: map[proto.NodeID]question{},
		},
		Stand: Stand{no: map[proto.NodeID]proto.Answer{}},
		jumps: jumps{voted: map[proto.NodeID]proto.Term{}, round: map[proto.NodeID]proto.Term{}},
	}
}

// Restore takes up what the last run kept, and reports whether this voter may have lost a
// vote, and has to rejoin. What is then in State is what its Machine is to start with.
func (p *Party) Restore(saved algorithms.State) (rejoins bool) {
	p.State = saved
	p.takeList(saved.Voters)
	p.Known = p.State.Vote.Term
	if promise := p.State.Promise; promise > 0 {
		p.Voter.boot = p.Now.Add(BootWait(promise))
	}
	if !p.Votes() {
		return false
	}
	if p.unvoted = p.State.Vote.Term == 0; p.unvoted {
		p.beginCollect()
	}
	if !p.unvoted || p.State.Promise > 0 {
		p.noteFirstTerm()
		return false
	}
	p.beginRejoin()
	return !p.allUnvoted() || !p.clear(p.roll()) // it may be the only voter
}

// noteFirstTerm says that an operator's first term is for nothing here.
func (p *Party) noteFirstTerm() {
	if first := p.Cfg.FirstTerm; first > 0 {
		p.Why("a first term of %d is given, and what this voter voted is saved -> do nothing with it", first)
	}
}

// Begin begins a Step.
func (p *Party) Begin(now time.Time) {
	if !p.due.IsZero() && now.Sub(p.due) > p.every {
		p.woke = now
	}
	p.Now, p.Out = now, algorithms.Output{Send: p.outbox.Empty()}
}

// End completes the Output of the Step and returns it.
func (p *Party) End() algorithms.Output {
	if p.Dirty {
		save := p.State
		p.Out.Save, p.Dirty = &save, false
	}
	p.Out.Leader = p.Belief
	if p.Belief.ID == 0 {
		p.Out.Leader = algorithms.Leader{Term: p.Seen.Term}
	}
	p.Out.Ineligible, p.Out.Voters = p.Ineligible(), p.list.state
	p.Wake(p.Handing.survey.due)
	p.Out.Recovery = p.recovery()
	p.Out.Send = p.outbox.Lend(p.Out.Send)
	p.due = p.Out.Deadline
	out := p.Out
	p.Out = algorithms.Output{}
	return out
}

// Votes reports whether this node is a voter.
func (p *Party) Votes() bool { return p.Voters.Has(p.Cfg.Self) }

// Stale reports whether an announcement may have waited for as long as this process was
// stopped: it has just woken, and knows of no leader. What is left of a lease counts from
// when that was sent, so it is no sign that anybody leads; a leader says so again soon.
func (p *Party) Stale() bool {
	return p.Belief.ID == 0 && !p.woke.IsZero() && p.Now.Sub(p.woke) < p.Cfg.Delta
}

// Forget ends the belief that another process leads, and reports whether there was one.
func (p *Party) Forget(was proto.Peer, why string) bool {
	if was.ID == 0 || p.Belief.ID != was.ID || p.Belief.Session != was.Session || was.ID == p.Cfg.Self {
		return false
	}
	p.Why("leader %d %s -> nobody %s", was.ID, why, p.Words.Leads)
	p.Belief = algorithms.Leader{}
	return true
}

// Why adds a reason to the Output: "cause -> decision".
func (p *Party) Why(format string, args ...any) {
	p.Out.Why = append(p.Out.Why, algorithms.Said(fmt.Sprintf(format, args...)))
}

// Refuse is Why, of what should not happen.
func (p *Party) Refuse(format string, args ...any) {
	p.Why(format, args...)
	p.Out.Warn = true
}

// Send adds a message to the Output.
func (p *Party) Send(to proto.NodeID, term proto.Term, body proto.Body) {
	p.Out.Send = append(p.Out.Send, proto.Message{From: p.Cfg.Self, To: to, Term: term, Body: body})
}

// Tell sends to every other voter, of the list before too while that counts.
func (p *Party) Tell(term proto.Term, body proto.Body) {
	send := slices.Grow(p.Out.Send, len(p.list.union))
	m := proto.Message{From: p.Cfg.Self, Term: term, Body: body}
	for _, id := range p.list.union {
		if id != p.Cfg.Self {
			send = algorithms.AppendTo(send, &m, id)
		}
	}
	p.Out.Send = send
}

// Wake asks for a Timeout at the first of these times and those asked for before; zero
// is never.
func (p *Party) Wake(times ...time.Time) {
	for _, at := range times {
		if !at.IsZero() && (p.Out.Deadline.IsZero() || at.Before(p.Out.Deadline)) {
			p.Out.Deadline = at
		}
	}
}

// Jitter spreads t evenly over [t, 2t).
func (p *Party) Jitter(t time.Duration) time.Duration { return t + p.Random(t) }

// Random is evenly drawn from [0, t).
func (p *Party) Random(t time.Duration) time.Duration { return time.Duration(p.dice.Int64N(int64(t))) }
