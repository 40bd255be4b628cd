package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// damped demands that elections do not multiply, whatever detectors say: a
// process may begin a burst of rounds by itself, and then one in a while. Rounds
// that others ask for do not count.
type damped struct {
	delta time.Duration
	begun table[int] // rounds, by process
}

// How many rounds a process may begin by itself, and then one in how long.
const (
	burstOfRounds = 8
	roundEvery    = 25 // Deltas
)

func (*damped) invariant() Invariant {
	return Invariant{"damped", "elections are damped, never endless, while detectors err"}
}

func (k *damped) check(s *step) string {
	if s.out.Leader.Term <= s.prev().Term || asked(s) {
		return ""
	}
	begun, age := k.begun.at(s.node.life.number), s.at-s.node.life.born
	*begun++
	if most := burstOfRounds + int(age/(roundEvery*k.delta)); *begun > most {
		return fmt.Sprintf("began %d rounds in %v", *begun, age)
	}
	return ""
}

// asked reports whether somebody else is behind the new term: an operator, or a
// node that is in it already or hands over. Start brings back an old term.
func asked(s *step) bool {
	switch ev := s.ev.(type) {
	case algorithms.Timeout, algorithms.PeersChanged:
		return false
	case algorithms.Receive:
		return ev.Term >= s.out.Leader.Term || ev.Body.Kind().Is(proto.HandsOver)
	}
	return true
}

// bestLeads holds in runs without failures.
type bestLeads struct {
	best proto.NodeID
	led  map[proto.Term]proto.NodeID
}

func newBestLeads(p plan) *bestLeads {
	var best proto.Rank
	for i, attr := range p.Attributes {
		rank := proto.Rank{Attr: attr, ID: proto.NodeID(i + 1)}
		if len(p.Voters) > 0 && !slices.Contains(p.Voters, rank.ID) {
			continue
		}
		if rank.Compare(best) > 0 {
			best = rank
		}
	}
	return &bestLeads{best: best.ID, led: map[proto.Term]proto.NodeID{}}
}

func (*bestLeads) invariant() Invariant {
	return Invariant{"best-leads", "without failures every term has at most one leader: " +
		"\"a particular non-faulty process with the best attribute value\""}
}

func (k *bestLeads) check(s *step) string {
	if !s.claims() {
		return ""
	}
	term := s.out.Leader.Term
	if was, ok := k.led[term]; ok && was != s.node.id {
		return fmt.Sprintf("leads term %d as %d does", term, was)
	}
	k.led[term] = s.node.id
	if s.node.id != k.best {
		return fmt.Sprintf("leads term %d, %d is better", term, k.best)
	}
	return ""
}
