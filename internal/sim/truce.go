package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/proto"
)

// What must hold while a nominee mends a split: it says so, those who hear it follow
// nobody, and it ends what it began.

// ceasefire is a TRUCE that a process heard.
type ceasefire struct {
	nominee proto.Epoch
	until   time.Time // by its own clock
}

// truceKept goes for those who followed the nominee when they heard it, and while
// they know of none of a higher term.
type truceKept struct{ heard table[ceasefire] } // by process

func (*truceKept) invariant() Invariant {
	return Invariant{"truce-kept", "who hears of a truce from the one that it follows follows " +
		"nobody until that is over, or another is nominated"}
}

func (k *truceKept) check(s *step) string {
	c := k.heard.at(s.node.life.number)
	if ev, ok := s.ev.(algorithms.Receive); ok {
		if b, ok := ev.Body.(interface{ Nominee() proto.Session }); ok { // of a copy of the package, too
			nominee := proto.Epoch{Term: ev.Term, Leader: ev.From, Session: b.Nominee()}
			if s.prev().Epoch() == nominee || c.nominee == nominee {
				*c = ceasefire{nominee, s.now.Add(30 * s.cluster.delta)}
			}
		}
	}
	if s.out.Leader.Epoch() == c.nominee && s.now.Before(c.until) {
		return fmt.Sprintf("follows %d, which mends, %v too early", c.nominee.Leader, c.until.Sub(s.now))
	}
	return ""
}

// mendings are what each process mends, and when it said so last.
type mendings map[proto.Session]*proclaimed

type proclaimed struct {
	number uint64
	term   proto.Term // a later one ends it
	said   time.Time  // by its own clock
}

func (k mendings) invariant() Invariant {
	return Invariant{"truce-said", "who mends a split leads nothing meanwhile, and tells the " +
		"others again and again"}
}

func (k mendings) check(s *step) string {
	session := s.node.life.session
	for _, split := range s.out.Splits {
		switch {
		case split.Number == 0:
		case split.Stage == algorithms.Stopping:
			k[session] = &proclaimed{split.Number, s.out.Leader.Term, s.now}
		case split.Stage != algorithms.Reconciling:
			delete(k, session)
		}
	}
	m := k[session]
	switch {
	case m == nil || s.crashes:
	case s.out.Leader.Term > m.term:
		delete(k, session)
	case s.claims():
		return fmt.Sprintf("leads term %d while it mends split %d", s.out.Leader.Term, m.number)
	case sends(s.out, splitbrain.KindTruce.String()) || len(s.node.life.view) < 2:
		m.said = s.now
	case s.now.Sub(m.said) > 10*s.cluster.delta:
		return fmt.Sprintf("has said nothing of split %d for %v", m.number, s.now.Sub(m.said))
	}
	return ""
}

// reconciledFirst keeps, for each process, the reigns that are over for good.
type reconciledFirst struct{ over map[proto.Epoch]bool }

func (*reconciledFirst) invariant() Invariant {
	return Invariant{"reconciled-first", "a split is done with only when its own reconciling has " +
		"ended, and no reign of who mended it goes on after that"}
}

func (k *reconciledFirst) check(s *step) string {
	for _, split := range s.out.Splits {
		if split.Number == 0 || split.Stage != algorithms.Electing {
			continue
		}
		if ev, ok := s.ev.(algorithms.Reconciled); !ok || ev.Number != split.Number {
			return fmt.Sprintf("is done with split %d, which was not reconciled", split.Number)
		}
		for _, r := range split.Reigns {
			if r.Epoch.Session == s.node.life.session {
				k.over[r.Epoch] = true
			}
		}
	}
	if s.claims() && k.over[s.out.Leader.Epoch()] {
		return fmt.Sprintf("leads term %d on, which was mended", s.out.Leader.Term)
	}
	return ""
}
