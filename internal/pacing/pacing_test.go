package pacing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// Promise: a budget derives heartbeat, misses and latency.
func TestPacing(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, algorithm string
		want            Pacing
	}{
		{"lan", "bully", Pacing{1000 * ms, 140 * ms, 60 * ms, 4}},
		{"local", "bully", Pacing{500 * ms, 70 * ms, 30 * ms, 4}},
		{"fast", "bully", Pacing{250 * ms, 35 * ms, 15 * ms, 4}},
		{"a ring", "ring", Pacing{1000 * ms, 140 * ms, 30 * ms, 4}},
		{"long rounds", "hs", Pacing{1750 * ms, 140 * ms, 30 * ms, 4}},
		{"a slow network", "bully", Pacing{2500 * ms, 350 * ms, 150 * ms, 4}},
	} {
		entry, err := catalog.Lookup(c.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := For(c.want.Budget, entry); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		if got := ForLatency(c.want.Latency, entry); got > c.want.Budget {
			t.Errorf("%s: latency %v needs %v, want %v at most", c.name, c.want.Latency, got, c.want.Budget)
		}
	}
}

// Promise: each profile's own budget suffices for every algorithm. The one that a
// slow algorithm gets leaves it a latency that nodes can start with.
func TestProfilesFitTheirBudget(t *testing.T) {
	for _, p := range Profiles {
		for _, entry := range catalog.All() {
			if _, err := For(p.Budget, entry); err != nil {
				t.Errorf("profile %s, %s: %v", p.Name, entry.Name, err)
			}
			paced, err := For(p.BudgetFor(entry), entry)
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
			paced, err := For(p.BudgetFor(entry), entry)
			silence := p.Budget * (100 - roundShare) / 100
			if err != nil || paced.Misses != misses || paced.Heartbeat != silence/(misses+1) {
				t.Errorf("profile %s, %s: %d misses of %v, %v; want %d of %v", p.Name, entry.Name,
					paced.Misses, paced.Heartbeat, err, misses, silence/(misses+1))
			}
			if patience := paced.Patience(entry); patience != p.Budget {
				t.Errorf("profile %s, %s: a patience of %v, want %v", p.Name, entry.Name, patience, p.Budget)
			}
		}
	}
}

// Promise: "the inequality that fails is shown, with the smallest budget that would do": it
// does, and a millisecond less does not. The relations hold under any that does.
func TestSmallestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.SampledFrom(catalog.All()).Draw(t, "algorithm")
		least := smallest(entry, func(p Pacing) bool { return p.Heartbeat >= tcp.MinHeartbeat })
		more := rapid.Int64Range(0, int64(MaxBudget-least)).Draw(t, "more")
		p, err := For(least+time.Duration(more), entry)
		if err != nil {
			t.Fatalf("%v should do, and %v more: %v", least, time.Duration(more), err)
		}
		_, k := RoundOf(entry)
		if time.Duration(p.Misses+1)*p.Heartbeat+k*p.Latency > p.Budget ||
			time.Duration(p.Misses-1)*p.Heartbeat < 2*p.Latency {
			t.Fatalf("%+v breaks a relation", p)
		}
		_, err = For(least-time.Millisecond, entry)
		if !errors.Is(err, ErrBudget) || !strings.HasSuffix(err.Error(), "would do is "+least.String()) {
			t.Fatalf("%v was the smallest, and less: %v", least, err)
		}
	})
}
