package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ballots are the latest rounds of claims or renewals, by the process that asks.
type ballots struct{ table[ballot] }

// ballot is one such round.
type ballot struct {
	term  proto.Term
	nonce uint64
	asked time.Time // by the asker's clock
	yes   []proto.NodeID
	alone time.Time // likewise: of others' promises alone, before
}

func (all *ballots) of(s *step) *ballot { return all.at(s.node.life.number) }

// bootMargin is what a voter waits after its start beyond drift, for what clocks round
// away.
const bootMargin = 10 * time.Millisecond

// heed counts what the Step's event brings.
func (b *ballot) heed(s *step) {
	if ev, ok := s.ev.(algorithms.Start); ok && ev.Saved.Promise > 0 {
		b.alone = s.now.Add(scale(ev.Saved.Promise, million+maxDriftPPM, million) + bootMargin)
	}
	g := s.heard
	if !g.does(grants) || g.session != s.node.life.session || g.nonce != b.nonce {
		return
	}
	m := s.ev.(algorithms.Receive).Message
	if m.Term == b.term && slices.Contains(s.cluster.Voters, m.From) && !slices.Contains(b.yes, m.From) {
		b.yes = append(b.yes, m.From)
	}
}

// won reports whether a majority has granted it, the asker itself among them: but not in
// a round that began while a promise of its former life might run.
func (b *ballot) won(s *step) bool {
	yes := len(b.yes)
	if !b.asked.Before(b.alone) {
		yes++
	}
	return 2*yes > len(s.cluster.Voters)
}

// follow begins the round that the Step's messages begin, and reports whether that is
// one of renewals.
func (b *ballot) follow(s *step) (renewed bool) {
	for i, q := range s.said {
		if q.does(claims|renews) && q.nonce != b.nonce {
			*b = ballot{term: s.out.Send[i].Term, nonce: q.nonce, asked: s.now, alone: b.alone}
			renewed = q.does(renews)
		}
	}
	return renewed
}
