package rounds_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// Promise: the time for which two led is a figure in the inspector, beside what became
// of it.
func TestRecoveredSplit(t *testing.T) {
	entry, err := catalog.Lookup("bully")
	if err != nil {
		t.Fatal(err)
	}
	entry = entry.WithRecovery()
	var log bytes.Buffer
	if _, err := sim.Run(sim.Options{
		Algorithm: sim.Algorithm{
			Name: entry.Name, Guarantee: entry.Guarantee, Preempt: entry.Preempt,
			New: entry.New, Agreement: entry.Agreement, Recovers: true,
		},
		Seed: 58, Trace: &log, TraceJSON: true, // the leader is cut off, and comes back
	}); err != nil {
		t.Fatal(err)
	}
	b := rounds.NewBuilder()
	if _, err := logs.Read(&log, b); err != nil {
		t.Fatal(err)
	}
	g := b.History().Groups[0]
	for _, r := range g.Rounds {
		for _, f := range r.Findings {
			if f.Name == rounds.Overlap && strings.Contains(f.Text, "at once, for ") &&
				strings.Contains(f.Text, " recovered from it: all who led stopped, it was reconciled, and node ") {
				return
			}
		}
	}
	t.Errorf("no finding tells of it: %+v", g.Findings)
}
