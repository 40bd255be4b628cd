package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// mixed is a lease machine around another nomination in each process: a node that starts
// again may come back with another algorithm, as in a migration.
func mixed(some []catalog.Entry) Algorithm {
	a := entered(some[0].WithLease())
	a.Name = "mixed"
	a.New = func(c algorithms.Config) algorithms.Machine {
		return some[c.Seed%uint64(len(some))].WithLease().New(c)
	}
	a.Agreement = func(delta time.Duration, nodes int) (longest time.Duration) {
		for _, e := range some {
			longest = max(longest, e.WithLease().Agreement(delta, nodes))
		}
		return longest
	}
	return a
}

// A cluster whose nodes nominate by different algorithms is safe with voters: "at
// any instant of true time at most one process leads", and within the bound
// somebody does. What it lacks is a nomination: rounds of one algorithm find no end
// among nodes of another, so the leader need not be the best, and terms go on.
func TestMixedNominationsAreSafe(t *testing.T) {
	var some []catalog.Entry
	for _, e := range catalog.All() {
		if e.Guarantee == algorithms.BestEffort {
			some = append(some, e)
		}
	}
	lacking := []string{quiet.Name, bestInTheEnd.Name, "best-leads"}
	algorithm, runs, elected := mixed(some), schedules(t)/6, 0
	for seed := range uint64(runs) {
		r, err := Run(Options{Algorithm: algorithm, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.Leader != 0 {
			elected++
		}
		if r.ContestedSeconds != 0 {
			t.Errorf("seed %d: two led for %v seconds", seed, r.ContestedSeconds)
		}
		for _, v := range r.Violations {
			if !slices.Contains(lacking, v.Name) {
				t.Errorf("seed %d: %v", seed, v)
			}
		}
	}
	if elected < runs*3/4 {
		t.Errorf("%d of %d runs ended with a leader", elected, runs)
	}
}

func TestLongMixedNominationsAreSafe(t *testing.T) { TestMixedNominationsAreSafe(t) }
