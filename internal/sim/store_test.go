package sim

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
)

// onStore is the algorithm that nominates around an entry in a store.
func onStore(t testing.TB, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return entered(e.WithStore(algorithms.Lease))
}

// nominating are the algorithms that can nominate for a store: those that need no voters.
func nominating() (names []string) {
	for _, e := range catalog.All() {
		if e.Guarantee == algorithms.BestEffort {
			names = append(names, e.Name)
		}
	}
	return names
}

// On a store that loses, delays and reorders, "at any instant of true time at most one process leads",
// and all the other invariants.
func TestStoreSchedules(t *testing.T) {
	for _, name := range nominating() {
		t.Run(name, func(t *testing.T) {
			mustBatch(t, Options{Algorithm: onStore(t, name), Seed: 1}, long.Runs(t, 60, 1000))
		})
	}
}

func TestLongStoreSchedules(t *testing.T) { TestStoreSchedules(t) }
