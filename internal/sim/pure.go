package sim

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
)

var pure = Invariant{"pure", "equal events in equal order give equal outputs"}

// take lets the Machine take the Step's event, and its twin, if there is one, too: a
// Machine that was made alike and lives through the same.
func (c *cluster) take(s *step) {
	l, ev := s.node.life, s.ev
	if peers, ok := ev.(algorithms.PeersChanged); ok && l.twin != nil {
		peers.Alive = slices.Clone(peers.Alive) // either may keep its own
		ev = peers
	}
	s.out = l.machine.Step(s.now, s.ev)
	if l.twin == nil {
		return
	}
	if again := l.twin.Step(s.now, ev); !reflect.DeepEqual(&again, &s.out) {
		c.violated(pure, s.node.id, fmt.Sprintf("%T: first %+v, again %+v", s.ev, s.out, again))
	}
}
