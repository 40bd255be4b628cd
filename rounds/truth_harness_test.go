package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
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

// "Missing, and a node followed it" was said of a leadership that had been over for 18 s as a follower got a HEARTBEAT
// of it. The next process of the leader's node ran since long before, and did not lead. It is missing where none ran,
// where that one had just begun, where another node told the follower, and where the record in which it began to follow
// is missing.
func TestTruthOfALeadershipThatWasFollowedLater(t *testing.T) {
	for name, c := range map[string]struct {
		began  int    // ms: the next process of the leader's node, 0 for none
		from   uint64 // who told the follower
		change trace.Change
		want   int
	}{
		"held up":               {11635, 2, trace.Elected, 0},
		"no other process":      {0, 2, trace.Elected, 1},
		"one that just began":   {19000, 2, trace.Elected, 1},
		"told by another node":  {11635, 3, trace.Elected, 1},
		"followed since before": {11635, 2, "", 1},
	} {
		run := &trueRun{truth: sim.Truth{
			Leaderships: []sim.Reign{
				{Node: 2, Incarnation: "n2", Term: 1, From: atMS(1542), Until: atMS(2106), Ended: sim.ByCrash},
			},
			Processes: []sim.Process{{Node: 2, Incarnation: "n2", From: atMS(0), Until: atMS(2106)}},
		}}
		if c.began > 0 {
			run.truth.Processes = append(run.truth.Processes, sim.Process{
				Node: 2, Incarnation: "n2again", From: atMS(c.began),
			})
		}
		follow := trace.Record{Node: 1, Incarnation: "n1", Term: 1, Leader: 2, Token: 1, Time: atMS(19702)}
		later := follow
		follow.From, follow.LeaderChange, later.Time = c.from, c.change, atMS(19736)
		r := &reading{
			variant: variant{since: true}, run: run, shown: []trace.Record{follow, later},
			byRef: map[rounds.Ref]*trace.Record{}, last: map[string]*trace.Record{},
			wrong: &errata{counts: map[string]*erratum{}, judged: map[string]int{}},
			terms: map[uint64][]*sim.Reign{}, reign: map[reignKey]*sim.Reign{}, lives: map[string]*sim.Process{},
			group: &rounds.Group{},
		}
		r.index()
		r.compareLeaderships()
		if len(r.wrong.counts) != c.want {
			t.Errorf("%s: %s", name, r.wrong.table())
		}
	}
}

// "Missing" was said of the winner of a term which it won after the last record that is here: those of the win and all
// later ones were lost. It is missing if a record of another node is later.
func TestTruthOfALeaderThatCameAfterTheLastRecord(t *testing.T) {
	for last, want := range map[int]int{300: 0, 500: 1} { // in ms
		run := &trueRun{truth: sim.Truth{Leaderships: []sim.Reign{
			{Node: 1, Incarnation: "n1", Term: 2, From: atMS(400)},
		}}}
		r := &reading{
			variant: variant{info: true, lossy: true}, run: run, byRef: map[rounds.Ref]*trace.Record{},
			shown: []trace.Record{{Node: 2, Incarnation: "n2", Time: atMS(last)}}, last: map[string]*trace.Record{},
			wrong: &errata{counts: map[string]*erratum{}, judged: map[string]int{}},
			terms: map[uint64][]*sim.Reign{}, reign: map[reignKey]*sim.Reign{}, lives: map[string]*sim.Process{},
			group: &rounds.Group{Rounds: []*rounds.Round{{Term: 2, State: rounds.Superseded}}},
		}
		r.index()
		r.compareRounds()
		if len(r.wrong.counts) != want {
			t.Errorf("the last record at %d ms: %s", last, r.wrong.table())
		}
	}
}
