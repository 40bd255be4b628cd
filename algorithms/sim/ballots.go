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
}

func (all *ballots) of(s *step) *ballot { return all.at(s.node.life.number) }

// heed counts what the Step's event brings.
func (b *ballot) heed(s *step) {
	g := s.heard
	if !g.does(grants) || g.session != s.node.life.session || g.nonce != b.nonce {
		return
	}
	m := s.ev.(algorithms.Receive).Message
	if m.Term == b.term && slices.Contains(s.cluster.Voters, m.From) && !slices.Contains(b.yes, m.From) {
		b.yes = append(b.yes, m.From)
	}
}

// won reports whether a majority has granted it, the asker itself among them.
func (b *ballot) won(s *step) bool { return 2*(len(b.yes)+1) > len(s.cluster.Voters) }

// follow begins the round that the Step's messages begin, and reports whether that is
// one of renewals.
func (b *ballot) follow(s *step) (renewed bool) {
	for i, q := range s.said {
		if q.does(claims|renews) && q.nonce != b.nonce {
			*b = ballot{term: s.out.Send[i].Term, nonce: q.nonce, asked: s.now}
			renewed = q.does(renews)
		}
	}
	return renewed
}
