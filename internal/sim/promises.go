package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// The invariants of voters.

// ledger records to whom each voter is bound, in true time, whatever the voter itself believes.
type ledger struct{ pledges table[pledge] } // by id

// pledge is a voter's latest promise.
type pledge struct {
	vote  algorithms.Vote
	to    algorithms.Vote // the process that got the promise: that of vote, or the winner of its term
	life  *life           // the voter's process that made or renewed the promise last
	until time.Duration
	over  bool          // the process in to released the promise, or was proven dead
	since time.Duration // its vote for itself counts from then on: its former process's promise is over
}

// promiseKept keeps the ledger up to date, and checks it.
type promiseKept struct{ *ledger }

func (k *promiseKept) check(s *step) string {
	p := k.pledges.at(int(s.node.id))
	p.over = p.over || p.endedBy(s)
	vote, broken := s.node.disk.Vote, ""
	if vote != p.vote && !s.node.lost {
		same := vote.ID == p.to.ID && vote.Incarnation == p.to.Incarnation
		back := vote.ID == 0 // without its disk; that is readmission's
		runs, since := !same && !p.over && !back && s.at < p.until, p.since
		switch {
		case runs && vote.ID == s.node.id && p.life != s.node.life:
			since = max(since, p.until) // a vote for itself that does not count yet
		case runs:
			broken = fmt.Sprintf("votes for %d in term %d while its promise to %d in term %d runs %v more",
				vote.ID, vote.Term, p.to.ID, p.to.Term, p.until-s.at)
		}
		*p = pledge{vote: vote, to: vote, life: s.node.life, until: s.promised(), over: vote.ID == 0, since: since}
	}
	for i, q := range s.said {
		if q.does(grants) { // that only the winner of its term gets what is not the vote's, vote-first sees
			p.to = algorithms.Vote{Term: s.out.Send[i].Term, ID: s.out.Send[i].To, Incarnation: q.incarnation}
		}
		if q.does(grants | claims | renews) {
			// Made anew, in whichever life it was made first; and also to a process that was
			// held for dead and is heard again.
			p.until, p.life, p.over = s.promised(), s.node.life, false
		}
	}
	return broken
}

// promised returns the true time at which a promise that is made in this Step ends.
func (s *step) promised() time.Duration {
	return s.node.clock.when(s.now.Add(s.node.promise))
}

// endedBy reports whether the Step's event, or a message of the voter itself, ends the promise
// early.
func (p *pledge) endedBy(s *step) bool {
	switch ev := s.ev.(type) {
	case algorithms.PeerProvenDead:
		if p.to.ID == ev.ID && p.to.Incarnation == ev.Incarnation && !s.cluster.Keep {
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

// releasedBy reports whether the message releases this very promise. RELEASE does, and so does
// TIMEOUT_NOW, which follows a release.
func (p *pledge) releasedBy(m proto.Message) bool {
	vote := algorithms.Vote{Term: m.Term, ID: m.From}
	switch b := m.Body.(type) {
	case proto.Release:
		vote.Incarnation = b.Incarnation
	case proto.TakeOver:
		vote.Incarnation = b.Incarnation
	default:
		return false
	}
	return p.to == vote
}

type bootWait struct{ boots table[boot] } // by id

// boot is a voter's latest start.
type boot struct {
	voted   algorithms.Vote
	longest time.Duration // the longest promise that it ever made
	until   time.Time     // when its wait after the start ends, by its own clock
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
	voted   table[algorithms.Vote] // the vote of each voter, by id
	ballots ballots
	won     map[proto.Leadership]bool // leaderships for which a majority voted, the winner included
}

func (k *voteFirst) check(s *step) string {
	b := k.ballots.of(s)
	b.count(s)
	if b.won(s) >= 0 {
		k.won[proto.Leadership{Term: b.term, Leader: s.node.id, Incarnation: s.node.life.incarnation}] = true
	}
	b.follow(s)
	voted := k.voted.at(int(s.node.id))
	if s.node.lost { // what comes after that is readmission's
		*voted = algorithms.Vote{}
	}
	vote, was := s.node.disk.Vote, *voted
	// A term with nobody in it is no vote. The grants that won it arrived without this one.
	won := was.ID == 0 && k.leads(vote)
	if vote.Term < was.Term || vote.Term == was.Term && vote != was && !won {
		return fmt.Sprintf("voted for %d in term %d after %d in term %d",
			vote.ID, vote.Term, was.ID, was.Term)
	}
	*voted = vote
	for i, q := range s.said {
		m := &s.out.Send[i]
		switch {
		case q.does(grants):
			want := algorithms.Vote{Term: m.Term, ID: m.To, Incarnation: q.incarnation}
			lost := m.Body.Kind() == proto.KindHeartbeatReply && vote.Term == m.Term && k.leads(want)
			if vote != want && !lost {
				return fmt.Sprintf("grants %d term %d, voted for %d in term %d",
					m.To, m.Term, vote.ID, vote.Term)
			}
		case q.does(claims | renews | announces):
			if want := (algorithms.Vote{
				Term: m.Term, ID: s.node.id, Incarnation: s.node.life.incarnation,
			}); vote != want {
				return fmt.Sprintf("%s of term %d, voted for %d in term %d",
					m.Body.Kind(), m.Term, vote.ID, vote.Term)
			}
		}
	}
	return ""
}

// leads reports whether the process that v names has won the term of v.
func (k *voteFirst) leads(v algorithms.Vote) bool {
	return k.won[proto.Leadership{Term: v.Term, Leader: v.ID, Incarnation: v.Incarnation}]
}

// refusedNothing checks that a voter which refuses a request does not act on the request: neither
// the voter's term nor what it saved changes because of it.
type refusedNothing struct {
	rounds table[proto.Term] // the highest round of each process
	waits  table[waits]      // what each process waits for
	disks  table[algorithms.State]
}

// waits says what a process waits for. vote: to vote, since nothing was saved. stand: to be
// eligible, for example after a back-off. When a wait ends in a Step, the process acts because of
// that end, and not because of the message that it receives in this Step.
type waits struct{ vote, stand bool }

func (k *refusedNothing) check(s *step) string {
	round := k.rounds.at(s.node.life.number)
	was := *round
	ev, ok := s.ev.(algorithms.Receive)
	*round = s.out.Round
	disk := k.disks.at(int(s.node.id))
	before := *disk
	*disk = s.node.disk
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
	// A process that crashes in this Step may not come to ask for the term that it has in view.
	saved := save != nil
	if saved && q.does(announces) && save.Voters.Committed && save.Voters.List == before.Voters.List {
		before.Voters, before.Former, before.Stopped = save.Voters, save.Former, save.Stopped // it settles these, too
		saved = *save != before
	}
	if saved || s.out.Round > was && !q.does(announces) && !s.asks() && !s.crashes {
		return fmt.Sprintf("saved %v, term %d after %d", saved, s.out.Round, was)
	}
	return ""
}

// asks reports whether the node sends PRE_VOTE in the Step.
func (s *step) asks() bool {
	return slices.ContainsFunc(s.said, func(q saying) bool { return q.does(asks) })
}

// refuses reports whether the node refuses, in this Step, a request of the node to, and grants no
// request.
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
