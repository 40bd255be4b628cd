package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ballots are the latest rounds of claims or renewals, by the process that asks.
type ballots map[proto.Session]*ballot

// ballot is one such round.
type ballot struct {
	term  proto.Term
	nonce uint64
	asked time.Time // by the asker's clock
	yes   []proto.NodeID
}

func (all ballots) of(s step) *ballot {
	session := s.node.life.session
	if all[session] == nil {
		all[session] = &ballot{}
	}
	return all[session]
}

// heed counts what the Step's event brings.
func (b *ballot) heed(s step) {
	ev, ok := s.ev.(algorithms.Receive)
	if !ok {
		return
	}
	g := sayingOf(ev.Body)
	if g.does(grants) && g.session == s.node.life.session && g.nonce == b.nonce && ev.Term == b.term &&
		slices.Contains(s.cluster.Voters, ev.From) && !slices.Contains(b.yes, ev.From) {
		b.yes = append(b.yes, ev.From)
	}
}

// won reports whether a majority has granted it, the asker itself among them.
func (b *ballot) won(s step) bool { return 2*(len(b.yes)+1) > len(s.cluster.Voters) }

// follow begins the round that the Step's messages begin, and reports whether that is
// one of renewals.
func (b *ballot) follow(s step) (renewed bool) {
	for _, m := range s.out.Send {
		q := sayingOf(m.Body)
		if q.does(claims|renews) && q.nonce != b.nonce {
			*b = ballot{term: m.Term, nonce: q.nonce, asked: s.now}
			renewed = q.does(renews)
		}
	}
	return renewed
}
