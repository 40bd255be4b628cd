package pacing

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
		given, want     Pacing
	}{
		{"lan", "bully", Pacing{Budget: 1000 * ms}, Pacing{1000 * ms, 140 * ms, 60 * ms, 4}},
		{"local", "bully", Pacing{Budget: 500 * ms}, Pacing{500 * ms, 70 * ms, 30 * ms, 4}},
		{"fast", "bully", Pacing{Budget: 250 * ms}, Pacing{250 * ms, 35 * ms, 15 * ms, 4}},
		{"a ring", "ring", Pacing{Budget: 1000 * ms}, Pacing{1000 * ms, 140 * ms, 30 * ms, 4}},
		{"long rounds", "hs", Pacing{Budget: 1750 * ms}, Pacing{1750 * ms, 140 * ms, 30 * ms, 4}},
		{
			"a slow network", "bully",
			Pacing{Budget: 2000 * ms, Latency: 150 * ms},
			Pacing{2000 * ms, 250 * ms, 150 * ms, 4},
		},
		{
			"a slow heartbeat", "bully",
			Pacing{Budget: 1000 * ms, Heartbeat: 200 * ms},
			Pacing{1000 * ms, 200 * ms, 60 * ms, 2},
		},
		{
			"a fast heartbeat", "bully",
			Pacing{Budget: 1000 * ms, Heartbeat: 10 * ms},
			Pacing{1000 * ms, 10 * ms, 15 * ms, 4},
		},
		{
			"few misses", "bully",
			Pacing{Budget: 1000 * ms, Misses: 2},
			Pacing{1000 * ms, 233 * ms, 60 * ms, 2},
		},
	} {
		entry, err := catalog.Lookup(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := For(c.given, entry); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// Promise: each profile's own budget suffices for every algorithm. The one that a
// slow algorithm gets leaves it a latency that nodes can start with.
func TestProfilesFitTheirBudget(t *testing.T) {
	for _, p := range Profiles {
		for _, entry := range catalog.All() {
			if _, err := For(Pacing{Budget: p.Budget}, entry); err != nil {
				t.Errorf("profile %s, %s: %v", p.Name, entry.Name, err)
			}
			paced, err := For(Pacing{Budget: p.BudgetFor(entry)}, entry)
			if least := Neat(p.Budget * roundShare / 100 / usualRound); err != nil || paced.Latency < least {
				t.Errorf("profile %s, %s: latency %v, %v; want at least %v",
					p.Name, entry.Name, paced.Latency, err, least)
			}
		}
	}
}

// Promise: "How soon a silent leader is noticed, and how long it is promised to, are a
// matter of the network and of what its processes may take": no algorithm changes it.
func TestNoticingIsOfTheProfile(t *testing.T) {
	for _, p := range Profiles {
		for _, entry := range catalog.All() {
			paced, err := For(Pacing{Budget: p.BudgetFor(entry)}, entry)
			silence := p.Budget * (100 - roundShare) / 100
			if err != nil || paced.Misses != usualMisses || paced.Heartbeat != silence/(usualMisses+1) {
				t.Errorf("profile %s, %s: %d misses of %v, %v; want %d of %v", p.Name, entry.Name,
					paced.Misses, paced.Heartbeat, err, usualMisses, silence/(usualMisses+1))
			}
			if patience := paced.Patience(entry); patience != p.Budget {
				t.Errorf("profile %s, %s: a patience of %v, want %v", p.Name, entry.Name, patience, p.Budget)
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
		given := Pacing{
			Heartbeat: maybe("heartbeat", 5*time.Millisecond, time.Second),
			Latency:   maybe("latency", 100*time.Microsecond, time.Second),
		}
		if rapid.Bool().Draw(t, "give misses") {
			given.Misses = rapid.IntRange(2, 20).Draw(t, "misses")
		}
		smallest, found := given.Smallest(entry)
		if !found {
			given.Budget = MaxBudget
			if _, err := For(given, entry); !errors.Is(err, ErrBudget) {
				t.Fatalf("no smallest budget, but an hour does: %v", err)
			}
			return
		}
		more := rapid.IntRange(0, 5000).Draw(t, "more")
		given.Budget = smallest + time.Duration(more)*time.Millisecond
		p, err := For(given, entry)
		if err != nil {
			t.Fatalf("%+v should do: %v", given, err)
		}
		if _, k := RoundOf(entry); time.Duration(p.Misses+1)*p.Heartbeat+k*p.Latency > p.Budget {
			t.Fatalf("%+v exceeds its budget", p)
		}
		given.Budget = smallest - time.Millisecond
		if _, err := For(given, entry); err == nil {
			t.Fatalf("%+v does, although %v was the smallest", given, smallest)
		}
	})
}
