package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/proto"
)

// mending is the algorithm with the mending of split brains around it.
func mending(t *testing.T, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	e = e.WithMending()
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
		Mends: e.Mends, Agreement: e.Agreement,
	}
}

// Promise: leaders that meet again are stopped, compared, reconciled, and one is
// elected, whatever else fails; and all agree within the stated bound.
func TestSplitBrainsAreMended(t *testing.T) {
	for _, name := range catalog.Names() {
		a := mending(t, name)
		if !a.Mends {
			continue // its guarantee lets no split happen
		}
		t.Run(name, func(t *testing.T) { mustBatch(t, Options{Algorithm: a, Seed: 1}, long.Runs(t, 100, 500)) })
	}
}

func TestLongSplitBrainsAreMended(t *testing.T) { TestSplitBrainsAreMended(t) }

// partitions is how long more than one node led, and how many splits were mended,
// in a run in which groups are cut off from each other at random, and nothing else
// fails.
func partitions(t *testing.T, a Algorithm, seed uint64) (contested time.Duration, mended int) {
	t.Helper()
	d := newDice(seed, streamPlan)
	n := 3 + d.IntN(5)
	c := newCluster(Options{Algorithm: a, Seed: seed}, n, d.chance(500), calm(DefaultDelta))
	c.detector.sight = one(d, seesPaths, seesLinks)
	c.detector.maxDelay = one(d, DefaultDelta, 20*DefaultDelta)
	if a.Office {
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
	if c.reigns != nil {
		for _, r := range c.reigns.reigns {
			if r.mended {
				mended++
			}
		}
	}
	c.census.advance(c.now)
	return c.census.contested, mended
}

// Promise: "With the office on, the same partitions give no second leader ever";
// best-effort they do, and the splits are mended.
func TestSamePartitionsWithAndWithoutAnOffice(t *testing.T) {
	runs := long.Runs(t, 60, 300)
	for _, name := range []string{"bully", "ring"} {
		var twoLed time.Duration
		mended := 0
		for seed := range uint64(runs) {
			without, reigns := partitions(t, mending(t, name), seed)
			twoLed, mended = twoLed+without, mended+reigns
			if with, _ := partitions(t, officeOf(t, name), seed); with != 0 {
				t.Errorf("%s, seed %d: two held the office for %v", name, seed, with)
			}
		}
		t.Logf("%s: without an office two led for %v in %d runs, %d reigns were mended; with one, never",
			name, twoLed.Round(time.Second), runs, mended)
		if twoLed < time.Duration(runs)*time.Second/5 || mended < runs {
			t.Errorf("%s: partitions without effect prove nothing", name)
		}
	}
}

func TestLongSamePartitionsWithAndWithoutAnOffice(t *testing.T) {
	TestSamePartitionsWithAndWithoutAnOffice(t)
}
