package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ballots are the rounds of claims and renewals, by the process that asks.
type ballots struct{ table[ballot] }

// ballot is the rounds of one term.
type ballot struct {
	term  proto.Term
	polls []poll    // the latest last
	alone time.Time // by the asker's clock: of others' promises alone, before
}

// poll is one round.
type poll struct {
	nonce uint64
	asked time.Time // by the asker's clock
	yes   []proto.NodeID
}

// mostPolls of a term are kept: those before are long over.
const mostPolls = 8

func (all *ballots) of(s *step) *ballot { return all.at(s.node.life.number) }

// bootMargin is what a voter waits after its start beyond drift, for what clocks round
// away.
const bootMargin = 10 * time.Millisecond

// heed counts what the Step's event brings, for the round that it answers.
func (b *ballot) heed(s *step) {
	if ev, ok := s.ev.(algorithms.Start); ok && ev.Saved.Promise > 0 {
		b.alone = s.now.Add(scale(ev.Saved.Promise, million+maxDriftPPM, million) + bootMargin)
	}
	g := s.heard
	if !g.does(grants) || g.session != s.node.life.session {
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

// won is the latest round that a majority has granted, the asker itself among them: but
// not in a round that began while a promise of its former life might run. It is -1 for
// none.
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

// follow begins the round that the Step's messages begin.
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
