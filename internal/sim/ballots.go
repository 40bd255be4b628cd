package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ballots has, for each process, the rounds in which it asks for votes or for renewals.
type ballots struct{ table[ballot] }

// ballot has the rounds in which one process asked the voters, all in the same term.
type ballot struct {
	term  proto.Term
	polls []poll    // in order, the latest last
	alone time.Time // its own vote does not count in rounds that began before this, by its clock
}

// poll is one round of requests to the voters.
type poll struct {
	nonce uint64
	asked time.Time // by the asker's clock
	yes   []proto.NodeID
}

// mostPolls is how many rounds of a term are kept: earlier ones are long over.
const mostPolls = 8

func (all *ballots) of(s *step) *ballot { return all.at(s.node.life.number) }

// bootMargin is added to the time that a voter waits after its start, since clocks round.
const bootMargin = 10 * time.Millisecond

// count takes the Step's event. If that is a vote or a renewed promise, count adds it to the round
// that it answers.
func (b *ballot) count(s *step) {
	if ev, ok := s.ev.(algorithms.Start); ok && ev.Saved.Promise > 0 {
		b.alone = s.now.Add(scale(ev.Saved.Promise, million+maxDriftPPM, million) + bootMargin)
	}
	g := s.heard
	if !g.does(grants) || g.incarnation != s.node.life.incarnation {
		return
	}
	m := s.ev.(algorithms.Receive).Message
	if m.Term != b.term || !slices.Contains(s.cluster.Voters, m.From) {
		return
	}
	for i := range b.polls {
		if p := &b.polls[i]; p.nonce == g.nonce && !slices.Contains(p.yes, m.From) {
			p.yes = append(p.yes, m.From)
		}
	}
}

// won returns the index of the latest round that a majority granted; -1 if there is none. The
// asker's own vote counts, unless the round began while a promise of its former process might still
// run.
func (b *ballot) won(s *step) int {
	for i := len(b.polls) - 1; i >= 0; i-- {
		yes := len(b.polls[i].yes)
		if !b.polls[i].asked.Before(b.alone) {
			yes++
		}
		if 2*yes > len(s.cluster.Voters) {
			return i
		}
	}
	return -1
}

// follow adds a new round if the Step's messages begin one.
func (b *ballot) follow(s *step) {
	for i, q := range s.said {
		if !q.does(claims | renews) {
			continue
		}
		if term := s.out.Send[i].Term; term != b.term {
			b.term, b.polls = term, nil
		}
		if n := len(b.polls); n > 0 && b.polls[n-1].nonce == q.nonce {
			continue
		} else if n == mostPolls {
			b.polls = slices.Delete(b.polls, 0, 1)
		}
		b.polls = append(b.polls, poll{nonce: q.nonce, asked: s.now})
	}
}
