package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// leaseCheckers returns the checkers of the invariants of leases.
func leaseCheckers() []checker {
	l := &ledger{}
	return []checker{
		// keeps the ledger: before those that read it
		{Invariant{"promise-kept", "a voter grants no other process while its promise runs, unless that " +
			"very process released the term or is proven dead"}, (&promiseKept{l}).check},
		{Invariant{"boot-wait", "a voter that starts grants no new term to another for as long as the " +
			"longest promise it ever made, whatever is released or proven"}, (&bootWait{}).check},
		{Invariant{"inside-promises", "a lease ends, in true time, before the promises of a majority of " +
			"distinct voters, whose votes for its holder are durable"}, (&insidePromises{l}).check},
		{Invariant{"lease-ahead", "no Step ends with a leader whose lease has ended"}, leaseAhead},
		{Invariant{"one-holder", "at any instant of true time at most one process leads or still works as " +
			"the leader"}, (&oneHolder{}).check},
		{
			Invariant{"one-holder-a-term", "no term is ever held by two processes"},
			(&oneATerm{"holds", map[proto.Term]proto.Incarnation{}}).check,
		},
		{Invariant{"tokens-rise", "the tokens that reach a store never go back"}, (&tokensRise{}).check},
		{
			Invariant{"vote-first", "a voter grants a term once, to one process, and not before that is " +
				"durable; back without its disk it grants the term that it was told of only to a process that " +
				"has won it; nobody claims what it has not voted for"},
			(&voteFirst{won: map[proto.Leadership]bool{}}).check,
		},
		{Invariant{"asked-first", "nobody claims a term that a majority of the voters has not just said it " +
			"would grant: who was cut off comes home without deposing anybody"}, (&askedFirst{}).check},
		{Invariant{"released-last", "a term is released when all work of its holder has stopped, and never " +
			"held or claimed after"}, (&releasedLast{}).check},
		{Invariant{"asks-no-more", "a holder asks no more after two rounds without a majority: one that " +
			"hears nothing must not lock the voters"}, (&asksNoMore{}).check},
		{
			Invariant{"readmission", "a voter of which nothing is saved grants, claims and tells nothing " +
				"before all voters ran at one instant and had not voted, or its longest promise is over and " +
				"enough voters, asked after that, told it what they voted in, or an operator did; then it " +
				"votes in higher terms only"},
			(&readmission{map[proto.NodeID]*comeback{}, map[proto.NodeID]bool{}}).check,
		},
		{Invariant{"refused-nothing", "a question that is answered with no changes nothing that is saved, " +
			"and no term; but who leads tells a voter that their list is committed"}, (&refusedNothing{}).check},
		{Invariant{"backs-off", "a node of which three claims in a row failed claims nothing for a " +
			"promise, while another could: others are to try"}, (&backsOff{}).check},
		{Invariant{"calm-preference", "a leader offers leadership to a better node at most once in four " +
			"promises, and ever more rarely while it does so again and again"}, (&calmPreference{}).check},
		{Invariant{"could-win", "who says that it would take over has asked the voters since it was " +
			"offered to, and a majority would vote for it but for the promise to that leader"}, (&couldWin{}).check},
		{Invariant{"one-borrower", "while a lease that was lent has not ended, by whatever clock, no other " +
			"process leads or lends, and it ends before its leader's own"}, oneBorrower},
		{Invariant{"lend-ends", "who asks for a lease to lend is told what came of it, and what has not " +
			"ended has a timer"}, (&lendEnds{}).check},
	}
}

// heldTerm is the latest leadership of a node; zero before the first.
type heldTerm struct {
	node  *node
	life  *life
	term  proto.Term
	until time.Duration // the end of the lease, in true time
	left  bool          // the node no longer believes that it leads
	idle  bool          // all its work has stopped too
}

// works reports whether anything may still be done in this leadership: its process runs, its lease
// has not ended, and its work has not stopped.
func (t *heldTerm) works(at time.Duration) bool {
	return t.life != nil && t.node.life == t.life && at < t.until && (!t.left || !t.idle)
}

type oneHolder struct{ holders table[heldTerm] } // by id

func (k *oneHolder) check(s *step) string {
	k.note(s)
	if !s.claims() || s.cluster.lostEntry(s.node.life, s.out.Leader.Term) {
		return ""
	}
	for _, other := range s.cluster.nodes {
		t := k.holders.at(int(other.id))
		if other != s.node && t.works(s.at) && !s.cluster.lostEntry(t.life, t.term) {
			return fmt.Sprintf("holds term %d while %d works in term %d for %v more",
				s.out.Leader.Term, other.id, t.term, t.until-s.at)
		}
	}
	return ""
}

// note updates the node's latest leadership.
func (k *oneHolder) note(s *step) {
	t := k.holders.at(int(s.node.id))
	if ev, ok := s.ev.(algorithms.WorkStopped); ok && t.term == ev.Term {
		t.idle = true
	}
	switch {
	case s.claims():
		*t = heldTerm{
			node: s.node, life: s.node.life, term: s.out.Leader.Term,
			until: s.node.clock.when(s.out.Leader.Until),
		}
	case t.life == s.node.life:
		t.left = true
	}
}

// oneATerm records, for each term, the one process that may hold it.
type oneATerm struct {
	does string // what the process does: "holds" or "leads" the term
	in   map[proto.Term]proto.Incarnation
}

func (k *oneATerm) check(s *step) string {
	if !s.claims() {
		return ""
	}
	term, incarnation := s.out.Leader.Term, s.node.life.incarnation
	if was, ok := k.in[term]; ok && was != incarnation {
		return fmt.Sprintf("%s term %d as %s did", k.does, term, was.Short())
	}
	k.in[term] = incarnation
	return ""
}

// tokensRise is a storage to which every leader writes in each Step. This storage does not compare
// tokens: they must rise all the same.
type tokensRise struct{ highest proto.Term }

func (k *tokensRise) check(s *step) string {
	valid := s.claims() && s.now.Before(s.out.Leader.Until)
	if valid && s.out.Leader.Term < k.highest {
		return fmt.Sprintf("writes with token %d after %d", s.out.Leader.Term, k.highest)
	}
	if valid {
		k.highest = s.out.Leader.Term
	}
	return ""
}

// insidePromises checks what makes a leader the only one: a majority of voters is bound to it, and
// two majorities have a voter in common.
type insidePromises struct{ *ledger }

func (k *insidePromises) check(s *step) string {
	if !s.claims() || s.prev() == s.out.Leader {
		return ""
	}
	until := s.node.clock.when(s.out.Leader.Until)
	want := algorithms.Vote{
		Term: s.out.Leader.Term, ID: s.node.id, Incarnation: s.node.life.incarnation,
	}
	inside := 0
	for _, id := range s.cluster.Voters {
		p := k.pledges.at(int(id))
		voter := s.cluster.node(id)
		// A vote whose disk was lost counts on: the voter waits for its promise.
		if p.over || p.to != want || voter.disk.Vote.Term != want.Term && !voter.lost {
			continue
		}
		// Its own voter a holder binds for as long as it holds, and once that is free.
		if id == s.node.id && s.at >= p.since || id != s.node.id && p.until >= until {
			inside++
		}
	}
	if 2*inside <= len(s.cluster.Voters) {
		return fmt.Sprintf("holds term %d on %d promises of %d voters",
			want.Term, inside, len(s.cluster.Voters))
	}
	return ""
}

func leaseAhead(s *step) string {
	if until := s.out.Leader.Until; s.claims() && !s.now.Before(until) {
		return fmt.Sprintf("holds term %d, its lease ended %v ago", s.out.Leader.Term, s.now.Sub(until))
	}
	return ""
}
