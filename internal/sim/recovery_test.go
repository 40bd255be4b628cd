package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// recovery is the algorithm with the recovery from split brains around it.
func recovery(t *testing.T, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	e = e.WithRecovery()
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
		Recovers: e.Recovers, Agreement: e.Agreement,
	}
}

// Promise: leaders that meet again are stopped, compared, reconciled, and one is
// elected, whatever else fails; and all agree within the stated bound.
func TestSplitBrainsAreRecoveredFrom(t *testing.T) {
	for _, name := range catalog.Names() {
		a := recovery(t, name)
		if !a.Recovers {
			continue // its guarantee lets no split happen
		}
		t.Run(name, func(t *testing.T) { mustBatch(t, Options{Algorithm: a, Seed: 1}, long.Runs(t, 100, 500)) })
	}
}

func TestLongSplitBrainsAreRecoveredFrom(t *testing.T) { TestSplitBrainsAreRecoveredFrom(t) }

// partitions is how long more than one node led, and how many splits were recovered from,
// in a run in which groups are cut off from each other at random, and nothing else
// fails.
func partitions(t *testing.T, a Algorithm, seed uint64) (contested time.Duration, recovered int) {
	t.Helper()
	d := newDice(seed, streamPlan)
	n := 3 + d.IntN(5)
	c := newCluster(Options{Algorithm: a, Seed: seed}, scenario.Numbered(n), d.chance(500), calm(DefaultDelta))
	c.detector.sight = one(d, seesPaths, seesLinks)
	c.detector.maxDelay = one(d, DefaultDelta, 20*DefaultDelta)
	if a.Leased {
		c.Promise = a.Promise(c.delta)
		for id := range n {
			c.Voters = append(c.Voters, proto.NodeID(id+1))
		}
	}
	for _, node := range c.nodes {
		node.clock = clock{driftPPM: int64(d.IntN(2*maxDriftPPM+1) - maxDriftPPM)}
	}
	c.assemble()
	c.runUntil(60 * c.delta)
	for range 3 {
		groups := make([]int, n)
		for i := range groups {
			groups[i] = d.IntN(3)
		}
		links := c.split(func(id proto.NodeID) int { return groups[id-1] })
		c.cut(links, "groups")
		c.runUntil(c.now + d.between(10*c.delta, 200*c.delta))
		c.uncut(links, "groups")
		c.runUntil(c.now + d.between(10*c.delta, 200*c.delta))
	}
	for _, v := range c.violations {
		t.Errorf("%s, seed %d: %v", a.Name, seed, v)
	}
	if c.leaderships != nil {
		for _, r := range c.leaderships.leaderships {
			if r.recovered {
				recovered++
			}
		}
	}
	c.census.advance(c.now)
	return c.census.contested, recovered
}

// Promise: "With voters, the same partitions give no second leader ever";
// best-effort they do, and the splits are recovered from.
func TestSamePartitionsWithAndWithoutVotes(t *testing.T) {
	runs := long.Runs(t, 60, 300)
	for _, name := range []string{"bully", "ring"} {
		var twoLed time.Duration
		recovered := 0
		for seed := range uint64(runs) {
			without, leaderships := partitions(t, recovery(t, name), seed)
			twoLed, recovered = twoLed+without, recovered+leaderships
			if with, _ := partitions(t, leased(t, name), seed); with != 0 {
				t.Errorf("%s, seed %d: two led for %v", name, seed, with)
			}
		}
		t.Logf("%s: without voters two led for %v in %d runs, %d leaderships were recovered from; with them, never",
			name, twoLed.Round(time.Second), runs, recovered)
		if twoLed < time.Duration(runs)*time.Second/5 || recovered < runs {
			t.Errorf("%s: partitions without effect prove nothing", name)
		}
	}
}

func TestLongSamePartitionsWithAndWithoutVotes(t *testing.T) {
	TestSamePartitionsWithAndWithoutVotes(t)
}
