package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// The invariants of voters.

// ledger is what each voter is bound to, in true time, whatever it believes.
type ledger struct{ pledges table[pledge] } // by id

// pledge is a voter's latest promise.
type pledge struct {
	vote  algorithms.Vote
	life  *life // that gave it, or gave it anew
	until time.Duration
	over  bool          // released by, or proven dead, exactly that process
	since time.Duration // it counts from then on: before, one of a former life may run
}

// promiseKept keeps the ledger.
type promiseKept struct{ *ledger }

func (*promiseKept) invariant() Invariant {
	return Invariant{"promise-kept", "a voter grants no other process while its promise runs, " +
		"unless that very process released the term or is proven dead"}
}

func (k *promiseKept) check(s *step) string {
	p := k.pledges.at(int(s.node.id))
	p.over = p.over || p.endedBy(s)
	vote, broken := s.node.disk.Vote, ""
	if vote != p.vote && !s.node.lost {
		same := vote.ID == p.vote.ID && vote.Session == p.vote.Session
		back := vote.ID == 0 // without its disk; that is readmission's
		runs, since := !same && !p.over && !back && s.at < p.until, p.since
		switch {
		case runs && vote.ID == s.node.id && p.life != s.node.life:
			since = max(since, p.until) // a vote for itself that does not count yet
		case runs:
			broken = fmt.Sprintf("votes for %d in term %d while its promise to %d in term %d runs %v more",
				vote.ID, vote.Term, p.vote.ID, p.vote.Term, p.until-s.at)
		}
		*p = pledge{vote: vote, life: s.node.life, until: s.promised(), over: vote.ID == 0, since: since}
	}
	for _, q := range s.said {
		if q.does(grants | claims | renews) {
			// Made anew, in whichever life it was made first; and also to a process that was
			// held for dead and is heard again.
			p.until, p.life, p.over = s.promised(), s.node.life, false
		}
	}
	return broken
}

// promised is the true time at which a promise that is made in this Step ends.
func (s *step) promised() time.Duration {
	return s.node.clock.when(s.now.Add(s.node.promise))
}

// endedBy reports whether the Step's event, or what the voter says of itself,
// ends the promise early.
func (p *pledge) endedBy(s *step) bool {
	switch ev := s.ev.(type) {
	case algorithms.Gone:
		if p.vote.ID == ev.ID && p.vote.Session == ev.Session && !s.cluster.Keep {
			return true
		}
	case algorithms.Receive:
		if p.releasedBy(ev.Message) {
			return true
		}
	}
	for _, m := range s.out.Send {
		if _, ok := m.Body.(proto.Release); ok && p.releasedBy(m) {
			return true
		}
	}
	return false
}

// releasedBy reports whether the message gives this very promise back, as RELEASE
// does, and TIMEOUT_NOW, which follows one.
func (p *pledge) releasedBy(m proto.Message) bool {
	vote := algorithms.Vote{Term: m.Term, ID: m.From}
	switch b := m.Body.(type) {
	case proto.Release:
		vote.Session = b.Session
	case proto.TakeOver:
		vote.Session = b.Session
	default:
		return false
	}
	return p.vote == vote
}

type bootWait struct{ boots table[boot] } // by id

// boot is a voter's latest start.
type boot struct {
	voted   algorithms.Vote
	longest time.Duration // of the promises that it ever made
	until   time.Time     // by its own clock
}

func (*bootWait) invariant() Invariant {
	return Invariant{"boot-wait", "a voter that starts grants no new term to another for as long as " +
		"the longest promise it ever made, whatever is released or proven"}
}

func (k *bootWait) check(s *step) string {
	b := k.boots.at(int(s.node.id))
	if _, ok := s.ev.(algorithms.Start); ok {
		b.until = s.now.Add(b.longest)
		if s.node.lost { // how long it waits, for those too, is readmission's
			b.longest, b.until = 0, s.now
		}
	}
	if s.node.disk.Vote == b.voted || s.node.lost {
		return ""
	}
	b.voted, b.longest = s.node.disk.Vote, max(b.longest, s.node.promise)
	if b.voted.ID != s.node.id && s.now.Before(b.until) {
		return fmt.Sprintf("votes for %d in term %d, %v too early",
			b.voted.ID, b.voted.Term, b.until.Sub(s.now))
	}
	return ""
}

type voteFirst struct {
	voted   table[algorithms.Vote] // by id
	ballots ballots
	won     map[proto.Epoch]bool // by the grants of a majority, its own among them
}

func (*voteFirst) invariant() Invariant {
	return Invariant{"vote-first", "a voter grants a term once, to one process, and not before " +
		"that is durable; back without its disk it grants the term that it was told of only to a " +
		"process that has won it; nobody claims what it has not voted for"}
}

func (k *voteFirst) check(s *step) string {
	b := k.ballots.of(s)
	b.heed(s)
	if b.won(s) >= 0 {
		k.won[proto.Epoch{Term: b.term, Leader: s.node.id, Session: s.node.life.session}] = true
	}
	b.follow(s)
	voted := k.voted.at(int(s.node.id))
	if s.node.lost { // what comes after that is readmission's
		*voted = algorithms.Vote{}
	}
	vote, was := s.node.disk.Vote, *voted
	// A term with nobody in it is no vote. The grants that won it arrived without this one.
	won := was.ID == 0 && k.won[proto.Epoch{Term: vote.Term, Leader: vote.ID, Session: vote.Session}]
	if vote.Term < was.Term || vote.Term == was.Term && vote != was && !won {
		return fmt.Sprintf("voted for %d in term %d after %d in term %d",
			vote.ID, vote.Term, was.ID, was.Term)
	}
	*voted = vote
	for i, q := range s.said {
		m := &s.out.Send[i]
		switch {
		case q.does(grants):
			if want := (algorithms.Vote{Term: m.Term, ID: m.To, Session: q.session}); vote != want {
				return fmt.Sprintf("grants %d term %d, voted for %d in term %d",
					m.To, m.Term, vote.ID, vote.Term)
			}
		case q.does(claims | renews | announces):
			if want := (algorithms.Vote{
				Term: m.Term, ID: s.node.id, Session: s.node.life.session,
			}); vote != want {
				return fmt.Sprintf("%s of term %d, voted for %d in term %d",
					m.Body.Kind(), m.Term, vote.ID, vote.Term)
			}
		}
	}
	return ""
}

// refusedNothing: only the claimant's own Step could have changed the rest.
type refusedNothing struct {
	rounds table[proto.Term] // by process
	waits  table[waits]      // likewise
}

// waits are what a process waits for: to vote, as nothing was saved, and to be eligible, as
// after a recess. What it does when that time has come is no answer to what it hears just then.
type waits struct{ vote, stand bool }

func (*refusedNothing) invariant() Invariant {
	return Invariant{"refused-nothing", "a question that is answered with no changes nothing that " +
		"is saved, and no term"}
}

func (k *refusedNothing) check(s *step) string {
	round := k.rounds.at(s.node.life.number)
	was := *round
	ev, ok := s.ev.(algorithms.Receive)
	_, pre := ev.Body.(proto.PreVote)
	pre = pre && s.cluster.algo.Name == "raft"
	if !pre || s.asks() { // else the Step of Raft is about the term that another asks for
		*round = s.out.Round
	}
	wait := k.waits.at(s.node.life.number)
	now := waits{s.out.Recovery != nil, s.out.Ineligible != ""}
	ended := wait.vote && !now.vote || wait.stand && !now.stand
	*wait = now
	if !ok {
		return ""
	}
	q := s.heard
	if !q.does(asks|claims|renews) || !s.refuses(ev.From) || ended { // by what it was told before, or by time
		return ""
	}
	save := s.out.Save
	if save != nil && save.Vote.ID == s.node.id { // it claims, in the same Step
		return ""
	}
	// What time ends in this Step, the question has not: the next term may be in view.
	if s.prev().ID != 0 && s.out.Leader.ID == 0 {
		was = max(was, s.prev().Term) + 1
	}
	// Who is told that a term is held has learnt of it, whatever else it was asked.
	if save != nil || s.out.Round > was && !q.does(announces) && !pre && !s.asks() {
		return fmt.Sprintf("saved %v, term %d after %d", save != nil, s.out.Round, was)
	}
	return ""
}

// asks reports whether the node asks voters in the Step, which then is about its term.
func (s *step) asks() bool {
	return slices.ContainsFunc(s.said, func(q saying) bool { return q.does(asks) })
}

// refuses reports whether the node says no to one, and yes to nobody.
func (s *step) refuses(to proto.NodeID) bool {
	no := false
	for i, q := range s.said {
		m := &s.out.Send[i]
		switch {
		case q.does(denies):
			no = no || m.To == to
		case q.does(grants):
			return false
		}
	}
	return no
}
