package sim

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
)

// "A node leads only once all have stopped", and all the other invariants,
// with agents that are slow, fail and lie.
func TestFencedSchedules(t *testing.T) {
	for _, e := range catalog.All() {
		name := e.Name
		if !e.WithLease().Fences {
			continue // the command refuses it a fence agent
		}
		t.Run(name, func(t *testing.T) {
			s := mustBatch(t, Options{Algorithm: fencedLease(t, name), Seed: 1, Fence: true}, long.Runs(t, 100, 1000))
			if s.ContestedSeconds.Max != 0 {
				t.Errorf("two led for %v seconds", s.ContestedSeconds.Max)
			}
		})
	}
}

func TestLongFencedSchedules(t *testing.T) { TestFencedSchedules(t) }
