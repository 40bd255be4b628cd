package sim

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/scenario"
)

// "As long as no detector calls a living process dead, and none leaves one out, no two
// processes lead at once, however slow the network is." Messages take up to thirty
// times what is planned for, are lost, come twice and overtake each other; nodes die,
// resign and call elections. The bully, which takes silence for an answer, has two
// leaders then.
func TestStollerNeverTwoLeadersHoweverSlow(t *testing.T) {
	runs := long.Runs(t, 60, 300)
	changes := 0
	twice := func(name string) (seeds []uint64) {
		e, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(runs) {
			if twoLead(t, entered(e), seed, &changes) {
				seeds = append(seeds, seed)
			}
		}
		return seeds
	}
	if seeds := twice("stoller"); len(seeds) > 0 {
		t.Errorf("two led with %d of %d seeds: %v", len(seeds), runs, seeds)
	}
	if changes < runs {
		t.Errorf("%d changes of leader in %d runs: what is above proves nothing", changes, runs)
	}
	if seeds := twice("bully"); len(seeds) < runs/2 {
		t.Errorf("two led with %d of %d seeds of the bully: what is above proves nothing", len(seeds), runs)
	}
}

func TestLongStollerNeverTwoLeadersHoweverSlow(t *testing.T) {
	TestStollerNeverTwoLeadersHoweverSlow(t)
}

// twoLead reports whether two nodes lead at one instant of a slow run, in which the
// dead stay dead. It counts the changes of the leader.
func twoLead(t *testing.T, a Algorithm, seed uint64, changes *int) bool {
	t.Helper()
	c := newCluster(Options{Algorithm: a, Seed: seed}, scenario.Numbered(5), seed%2 == 0, calm(DefaultDelta))
	c.healAt, c.detector.maxDelay = never/2, 20*c.delta
	c.assemble()
	if !c.runTo(a.Agreement(c.delta, 5), func() bool { return c.census.agreed != never }) {
		t.Fatalf("seed %d: no agreement in calm weather", seed)
	}
	c.network.weather = weather{
		MaxDelay: 3 * c.delta, Straggle: 100, Straggler: 30 * c.delta, Loss: 50, Duplicate: 50,
	}
	last := c.leader()
	twice := func() bool {
		leaders := 0
		for _, n := range c.nodes {
			if !n.leads() {
				continue
			}
			if leaders++; n != last {
				last = n
				*changes++
			}
		}
		return leaders > 1
	}
	for range 10 {
		n := c.nodes[c.dice.IntN(5)]
		switch c.dice.IntN(4) {
		case 0:
			c.kill(n)
		case 1:
			if l := c.leader(); l != nil {
				c.kill(l)
			}
		case 2:
			c.operate(n, algorithms.Campaign{Reason: "the operator asked"})
		case 3:
			c.operate(n, algorithms.Resign{})
		}
		if c.runTo(c.now+100*c.delta, twice) {
			return true
		}
	}
	return false
}
