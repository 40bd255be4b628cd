package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ballots are the latest rounds of CLAIM or RENEW, by the process that asks.
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
	g, ok := ev.Body.(proto.Grant)
	if ok && g.Session == s.node.life.session && g.Nonce == b.nonce && ev.Term == b.term &&
		slices.Contains(s.cluster.Voters, ev.From) && !slices.Contains(b.yes, ev.From) {
		b.yes = append(b.yes, ev.From)
	}
}

// won reports whether a majority has granted it, the asker itself among them.
func (b *ballot) won(s step) bool { return 2*(len(b.yes)+1) > len(s.cluster.Voters) }

// follow begins the round that the Step's messages begin.
func (b *ballot) follow(s step) {
	for _, m := range s.out.Send {
		nonce := b.nonce
		switch body := m.Body.(type) {
		case proto.Claim:
			nonce = body.Nonce
		case proto.Renew:
			nonce = body.Nonce
		}
		if nonce != b.nonce {
			*b = ballot{term: m.Term, nonce: nonce, asked: s.now}
		}
	}
}
