package main

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// Promise: a budget derives heartbeat, misses and latency; what the operator
// gives stays.
func TestPacing(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, algorithm string
		given, want     pacing
	}{
		{"lan", "bully", pacing{budget: 1000 * ms}, pacing{1000 * ms, 140 * ms, 60 * ms, 4}},
		{"local", "bully", pacing{budget: 500 * ms}, pacing{500 * ms, 70 * ms, 30 * ms, 4}},
		{"fast", "bully", pacing{budget: 250 * ms}, pacing{250 * ms, 35 * ms, 15 * ms, 4}},
		{"a ring", "ring", pacing{budget: 1000 * ms}, pacing{1000 * ms, 140 * ms, 30 * ms, 4}},
		{"long rounds", "hs", pacing{budget: 1750 * ms}, pacing{1750 * ms, 140 * ms, 30 * ms, 4}},
		{
			"a slow network", "bully",
			pacing{budget: 2000 * ms, latency: 150 * ms},
			pacing{2000 * ms, 250 * ms, 150 * ms, 4},
		},
		{
			"a slow heartbeat", "bully",
			pacing{budget: 1000 * ms, heartbeat: 200 * ms},
			pacing{1000 * ms, 200 * ms, 60 * ms, 2},
		},
		{
			"a fast heartbeat", "bully",
			pacing{budget: 1000 * ms, heartbeat: 10 * ms},
			pacing{1000 * ms, 10 * ms, 15 * ms, 4},
		},
		{
			"few misses", "bully",
			pacing{budget: 1000 * ms, misses: 2},
			pacing{1000 * ms, 233 * ms, 60 * ms, 2},
		},
	} {
		entry, err := catalog.Lookup(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pacingFor(c.given, entry); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// Promise: each profile's own budget suffices for every algorithm. The one that a
// slow algorithm gets leaves it a latency that nodes can start with.
func TestProfilesFitTheirBudget(t *testing.T) {
	for _, p := range profiles {
		for _, entry := range catalog.All() {
			if _, err := pacingFor(pacing{budget: p.budget}, entry); err != nil {
				t.Errorf("profile %s, %s: %v", p.name, entry.Name, err)
			}
			paced, err := pacingFor(pacing{budget: p.budgetFor(entry)}, entry)
			if least := neat(p.budget * roundShare / 100 / usualRound); err != nil || paced.latency < least {
				t.Errorf("profile %s, %s: latency %v, %v; want at least %v",
					p.name, entry.Name, paced.latency, err, least)
			}
		}
	}
}

// Promise: "How soon a silent leader is noticed, and how long it is promised to, are a
// matter of the network and of what its processes may take": no algorithm changes it.
func TestNoticingIsOfTheProfile(t *testing.T) {
	for _, p := range profiles {
		for _, entry := range catalog.All() {
			paced, err := pacingFor(pacing{budget: p.budgetFor(entry)}, entry)
			silence := p.budget * (100 - roundShare) / 100
			if err != nil || paced.misses != usualMisses || paced.heartbeat != silence/(usualMisses+1) {
				t.Errorf("profile %s, %s: %d misses of %v, %v; want %d of %v", p.name, entry.Name,
					paced.misses, paced.heartbeat, err, usualMisses, silence/(usualMisses+1))
			}
			if patience := paced.patience(entry); patience != p.budget {
				t.Errorf("profile %s, %s: a patience of %v, want %v", p.name, entry.Name, patience, p.budget)
			}
		}
	}
}

// Promise: "the inequality that fails is shown, with the smallest budget that
// would do": it does, and a millisecond less does not.
func TestSmallestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maybe := func(name string, least, most time.Duration) time.Duration {
			if !rapid.Bool().Draw(t, "give "+name) {
				return 0
			}
			return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
		}
		entry := rapid.SampledFrom(catalog.All()).Draw(t, "algorithm")
		given := pacing{
			heartbeat: maybe("heartbeat", 5*time.Millisecond, time.Second),
			latency:   maybe("latency", 100*time.Microsecond, time.Second),
		}
		if rapid.Bool().Draw(t, "give misses") {
			given.misses = rapid.IntRange(2, 20).Draw(t, "misses")
		}
		smallest, found := given.smallest(entry)
		if !found {
			given.budget = maxBudget
			if _, err := pacingFor(given, entry); !errors.Is(err, errBudget) {
				t.Fatalf("no smallest budget, but an hour does: %v", err)
			}
			return
		}
		more := rapid.IntRange(0, 5000).Draw(t, "more")
		given.budget = smallest + time.Duration(more)*time.Millisecond
		p, err := pacingFor(given, entry)
		if err != nil {
			t.Fatalf("%+v should do: %v", given, err)
		}
		if _, k := roundOf(entry); time.Duration(p.misses+1)*p.heartbeat+k*p.latency > p.budget {
			t.Fatalf("%+v exceeds its budget", p)
		}
		given.budget = smallest - time.Millisecond
		if _, err := pacingFor(given, entry); err == nil {
			t.Fatalf("%+v does, although %v was the smallest", given, smallest)
		}
	})
}
