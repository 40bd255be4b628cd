package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// damped checks that elections do not multiply, even if the detectors are wrong. A process may
// begin several rounds in a row by itself, and after that only one round from time to time. Rounds
// that others ask for do not count.
type damped struct {
	delta time.Duration
	begun table[int] // how many rounds each process began
}

// A process may begin burstOfRounds rounds by itself, and then one round every roundEvery.
const (
	burstOfRounds = 8
	roundEvery    = 25 // in Deltas
)

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

// asked reports whether the node entered the new term because of somebody else: an operator, a node
// that is already in the term, or a node that hands over. It also returns true for a Start, since a
// Start restores an old term.
func asked(s *step) bool {
	switch ev := s.ev.(type) {
	case algorithms.Timeout, algorithms.PeersChanged:
		return false
	case algorithms.Receive:
		return ev.Term >= s.out.Leader.Term || ev.Body.Kind().Is(proto.HandsOver)
	}
	return true
}

// bestLeads checks that the best node leads. It is used in runs without failures.
type bestLeads struct {
	best proto.NodeID
	led  map[proto.Term]proto.NodeID
}

func newBestLeads(p plan) checker {
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
	return checker{
		Invariant{"best-leads", "without failures every term has at most one leader: " +
			"\"a particular non-faulty process with the best attribute value\""},
		(&bestLeads{best: best.ID, led: map[proto.Term]proto.NodeID{}}).check,
	}
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
