package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Not so" was said of two leaders at once, of which one crashed in the moment in which it began to lead: its last
// record of level info says that it leads, and it may have led on "for 100 ms at most", until the other one ceased to.
// It is not so if that one had just ceased to lead.
func TestTruthOfALeaderThatCrashedAsItBegan(t *testing.T) {
	for began, want := range map[int]int{200: 0, 300: 1} { // in ms
		run := &trueRun{truth: sim.Truth{Leaderships: []sim.Reign{
			{Node: 5, Incarnation: "n5", Term: 2, From: atMS(0), Until: atMS(300), Ended: sim.ByBelief},
			{Node: 2, Incarnation: "n2", Term: 1, From: atMS(began), Until: atMS(began), Ended: sim.ByCrash},
		}}}
		if want > 0 {
			run.truth.Leaderships[1].Until = atMS(400)
		}
		r := &reading{
			variant: variant{info: true}, run: run,
			wrong: &errata{counts: map[string]*erratum{}, judged: map[string]int{}},
			terms: map[uint64][]*sim.Reign{}, reign: map[reignKey]*sim.Reign{}, lives: map[string]*sim.Process{},
			group: &rounds.Group{Findings: []rounds.Finding{{Name: rounds.Overlap, Term: 2, Text: "Node 5 led term 2 " +
				"and node 2 led term 1 at once, for 100 ms at most: no record tells how long node 2 led."}}},
		}
		r.index()
		r.compareOverlaps()
		if len(r.wrong.counts) != want {
			t.Errorf("began at %d ms: %s", began, r.wrong.table())
		}
	}
}
