package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/proto"
)

// What must hold while a nominee recovers from a split: it tells the others, those that hear it follow
// nobody meanwhile, and it completes the recovery.

// ceasefire is the duty of a process that received STOP, the message of a nominee that recovers
// from a split: the process does not follow this nominee before the time until.
type ceasefire struct {
	nominee proto.Leadership
	until   time.Time // by the clock of the process
}

// stopKept checks each process that followed the nominee when it received the nominee's STOP: it
// must not follow this nominee again before the ceasefire ends.
type stopKept struct{ heard table[ceasefire] } // by process

func (k *stopKept) check(s *step) string {
	c := k.heard.at(s.node.life.number)
	if ev, ok := s.ev.(algorithms.Receive); ok {
		if b, ok := ev.Body.(interface{ Nominee() proto.Incarnation }); ok { // of a copy of the package, too
			nominee := proto.Leadership{Term: ev.Term, Leader: ev.From, Incarnation: b.Nominee()}
			if s.prev().Leadership() == nominee || c.nominee == nominee {
				*c = ceasefire{nominee, s.now.Add(30 * s.cluster.delta)}
			}
		}
	}
	if s.out.Leader.Leadership() == c.nominee && s.now.Before(c.until) {
		return fmt.Sprintf("follows %d, which recovers, %v too early", c.nominee.Leader, c.until.Sub(s.now))
	}
	return ""
}

// recoveries records, for each process, the split from which it recovers, and when it last sent
// STOP.
type recoveries map[proto.Incarnation]*proclaimed

type proclaimed struct {
	number uint64
	term   proto.Term // the term in which it recovers; a later term ends the recovery
	said   time.Time  // when it last sent STOP, by its own clock
}

func (k recoveries) check(s *step) string {
	incarnation := s.node.life.incarnation
	for _, split := range s.out.Splits {
		switch {
		case split.Number == 0:
		case split.Stage == algorithms.Stopping:
			k[incarnation] = &proclaimed{split.Number, s.out.Leader.Term, s.now}
		case split.Stage != algorithms.Reconciling:
			delete(k, incarnation)
		}
	}
	m := k[incarnation]
	switch {
	case m == nil || s.crashes:
	case s.out.Leader.Term > m.term:
		delete(k, incarnation)
	case s.claims():
		return fmt.Sprintf("leads term %d while it recovers from split %d", s.out.Leader.Term, m.number)
	case sends(s.out, splitbrain.KindStop.String()) || len(s.node.life.view) < 2:
		m.said = s.now
	case s.now.Sub(m.said) > 10*s.cluster.delta:
		return fmt.Sprintf("has said nothing of split %d for %v", m.number, s.now.Sub(m.said))
	}
	return ""
}

// reconciledFirst records the leaderships that are over for good, since their process recovered
// from a split.
type reconciledFirst struct{ over map[proto.Leadership]bool }

func (k *reconciledFirst) check(s *step) string {
	for _, split := range s.out.Splits {
		if split.Number == 0 || split.Stage != algorithms.Electing {
			continue
		}
		if ev, ok := s.ev.(algorithms.Reconciled); !ok || ev.Number != split.Number {
			return fmt.Sprintf("is done with split %d, which was not reconciled", split.Number)
		}
		for _, r := range split.Leaderships {
			if r.Leadership.Incarnation == s.node.life.incarnation {
				k.over[r.Leadership] = true
			}
		}
	}
	if s.claims() && k.over[s.out.Leader.Leadership()] {
		return fmt.Sprintf("leads term %d on, which was recovered from", s.out.Leader.Term)
	}
	return ""
}
