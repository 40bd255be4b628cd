package sim

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// The Truth of a run has each leadership that a record tells of, from that record on, and each receipt. No
// leadership lasts longer than its process, and asking for the truth changes nothing.
func TestTruth(t *testing.T) {
	for _, name := range []string{"bully", "raft"} {
		e, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		votes, reigns := 0, map[ReignEnd]int{}
		for seed := range uint64(30) {
			var silent, log bytes.Buffer
			o := Options{
				Algorithm: algorithmOf(t, e.Name),
				Seed:      seed,
				Trace:     &silent,
				TraceJSON: true,
				TraceAll:  true,
			}
			mustRun(t, o)
			truth := Truth{}
			o.Trace, o.Truth = &log, &truth
			mustRun(t, o)
			if !bytes.Equal(silent.Bytes(), log.Bytes()) {
				t.Errorf("%s, seed %d: another run", name, seed)
			}
			truth.agrees(t, log.Bytes())
			votes += len(truth.Votes)
			for _, r := range truth.Leaderships {
				reigns[r.Ended]++
			}
		}
		if reigns[""] == 0 || reigns[ByCrash] == 0 || e.Leased && (votes == 0 || reigns[ByLease] == 0) ||
			!e.Leased && reigns[ByBelief] == 0 {
			t.Errorf("%s: %d votes, leaderships by their ends %v", name, votes, reigns)
		}
	}
}

// agrees compares the Truth with the records of the run.
func (truth *Truth) agrees(t *testing.T, log []byte) {
	t.Helper()
	lives := map[string]Process{}
	for _, p := range truth.Processes {
		lives[p.Incarnation] = p
	}
	reigns := map[Reign]time.Time{}
	for _, r := range truth.Leaderships {
		p := lives[r.Incarnation]
		if !p.Until.IsZero() && (r.Until.IsZero() || r.Until.After(p.Until)) || r.From.Before(p.From) {
			t.Errorf("leadership %+v of %+v", r, p)
		}
		reigns[Reign{Node: r.Node, Incarnation: r.Incarnation, Term: r.Term}] = r.From
	}
	seen := map[Reign]bool{}
	for line := range bytes.Lines(log) {
		rec, err := trace.Parse(line)
		if err != nil {
			continue // a note
		}
		key := Reign{Node: proto.NodeID(rec.Node), Incarnation: rec.Incarnation, Term: proto.Term(rec.LeaderTerm())}
		from, led := reigns[key]
		if leads := rec.Leader == rec.Node; leads && (!led || !seen[key] && !from.Equal(rec.Time)) {
			t.Errorf("%d leads term %d from %v on, but the truth is %v", rec.Node, key.Term, rec.Time, from)
		} else if leads {
			seen[key] = true
		}
	}
	if len(seen) != len(truth.Leaderships) {
		t.Errorf("records of %d leaderships of %d", len(seen), len(truth.Leaderships))
	}
	receipts := 0
	for _, times := range truth.Receipts {
		receipts += len(times)
	}
	if written := bytes.Count(log, []byte(`"event":"receive"`)); written != receipts {
		t.Errorf("%d receipts, and records of %d", receipts, written)
	}
}

// A cut, a pause and a crash are in the Truth, with their ends.
func TestTruthOfFaults(t *testing.T) {
	truth := Truth{}
	c := newCluster(
		Options{Algorithm: toyAlgorithm(sound), Truth: &truth}, scenario.Numbered(2), false,
		weather{MinDelay: 1, MaxDelay: 1},
	)
	for _, n := range c.nodes {
		c.start(n)
	}
	c.runUntil(time.Second)
	c.cutFor(time.Second, oneWay(1, 2), "1>2")
	c.pause(c.node(2), time.Minute)
	c.lieTo(c.node(1), c.node(2), suspects)
	c.runUntil(3 * time.Second)
	c.truth(c.node(1), c.node(2))
	c.loseDisk(c.node(2))
	c.result(Options{})
	at := func(second int) time.Time { return beginning.Add(time.Duration(second) * time.Second) }
	has, err := json.Marshal([]any{truth.Cuts, truth.Pauses, truth.Lies, truth.LostDisks, truth.Processes[1].Until})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal([]any{
		[]CutLink{{1, 2, at(1), at(2)}},
		[]Paused{{2, at(1), at(3)}},
		[]Deception{{1, 2, at(1), at(3)}},
		[]LostDisk{{2, at(3)}},
		at(3),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(has, want) || !truth.End.Equal(at(3)) || !truth.Processes[0].Until.IsZero() {
		t.Errorf("%s, want %s", has, want)
	}
}
