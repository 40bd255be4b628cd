package bench

import (
	"slices"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// state is the state of the cluster under the present faults. away and aside count, for each node,
// the faults that keep it away or aside. dropped and refused are the links that a fault blocks.
type state struct {
	ids     []proto.NodeID
	away    map[proto.NodeID]int // not running, stopped, or with wrong flags
	aside   map[proto.NodeID]int // told not to lead
	dropped map[*fault][]testcluster.Link
	refused map[*fault][]testcluster.Link
}

func newState(nodes int) state {
	s := state{
		away: map[proto.NodeID]int{}, aside: map[proto.NodeID]int{},
		dropped: map[*fault][]testcluster.Link{}, refused: map[*fault][]testcluster.Link{},
	}
	for i := range nodes {
		s.ids = append(s.ids, proto.NodeID(i+1))
	}
	return s
}

func (s state) majority() int { return len(s.ids)/2 + 1 }

// able reports whether a leader is possible: a node that is allowed to lead reaches a majority of
// the voters, itself included, directly and both ways. A link that refuses new connections does not
// count.
func (s state) able() bool {
	bad := slices.Concat(linksOf(s.dropped), linksOf(s.refused))
	for _, id := range s.ids {
		if s.away[id] > 0 || s.aside[id] > 0 {
			continue
		}
		reached := 0
		for _, other := range s.ids {
			to, from := testcluster.Link{From: id, To: other}, testcluster.Link{From: other, To: id}
			if s.away[other] == 0 && !slices.Contains(bad, to) && !slices.Contains(bad, from) {
				reached++
			}
		}
		if reached >= s.majority() {
			return true
		}
	}
	return false
}

// noted adds a moment if a leader has become possible, or has become impossible.
func (p *prover) noted() {
	able := p.state.able()
	if n := len(p.moments); n > 0 && p.moments[n-1].able == able {
		return
	}
	p.moments = append(p.moments, moment{now(), able})
}

// lacking calls change and then do. do takes something away from the cluster. change updates the
// state; it comes first, since a leader may be impossible as soon as do begins.
func (p *prover) lacking(change func(), do func() error) error {
	change()
	p.noted()
	return do()
}

// regaining calls do and then change. do gives something back to the cluster. change updates the
// state; it comes last, since a leader is certainly possible only when do has ended.
func (p *prover) regaining(do func() error, change func()) error {
	if err := do(); err != nil {
		return err
	}
	change()
	p.noted()
	return nil
}

// linksOf returns the links of all faults together.
func linksOf(some map[*fault][]testcluster.Link) (all []testcluster.Link) {
	for _, links := range some {
		for _, l := range links {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}
