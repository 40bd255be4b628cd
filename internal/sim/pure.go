package sim

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
)

var pure = Invariant{"pure", "equal events in equal order give equal outputs"}

// take lets the Machine take the Step's event. If the process has a twin, a second Machine made
// with the same Config, the twin takes the same event.
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
