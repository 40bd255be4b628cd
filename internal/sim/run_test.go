package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// schedules is how many random fault schedules the algorithms share in a test.
func schedules(t *testing.T) int { return long.Runs(t, 1500, 7500) }

// Many random fault schedules of every algorithm break no invariant.
func TestFaultSchedules(t *testing.T) {
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			mustBatch(t, Options{Algorithm: algorithmOf(t, name), Seed: 1}, schedules(t)/len(catalog.Names()))
		})
	}
}

func TestLongFaultSchedules(t *testing.T) { TestFaultSchedules(t) }

// "The same seed twice gives byte-equal traces."
func TestSameSeedSameTrace(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, traceJSON := range []bool{false, true} {
			for seed := range uint64(20) {
				o := Options{
					Algorithm: algorithmOf(t, name), Seed: seed, TraceJSON: traceJSON, TraceAll: true,
				}
				first, second := traceOf(t, o), traceOf(t, o)
				if first == "" || first != second {
					t.Fatalf("%s: two traces differ, or are empty", o.Repro())
				}
			}
		}
	}
}

func traceOf(t *testing.T, o Options) string {
	t.Helper()
	var b bytes.Buffer
	o.Trace = &b
	if _, err := Run(o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An option given by hand changes nothing that was drawn for another.
func TestGivenOptionsLeaveTheRestAlone(t *testing.T) {
	no := false
	drawn := draw(Options{Seed: 5})
	given := draw(Options{Seed: 5, Nodes: drawn.Nodes, Preempt: &no})
	given.Preempt = drawn.Preempt
	if want, got := drawn.Lines(), given.Lines(); !slices.Equal(want, got) {
		t.Errorf("drew %v, then %v", want, got)
	}
}

// The lines of a JSON trace are the records that nodes log: those of one process
// have no gap.
func TestJSONTraceIsRecords(t *testing.T) {
	o := Options{Algorithm: toyAlgorithm(sound), Nodes: 3, TraceJSON: true}
	records := map[string]uint64{}
	for line := range strings.Lines(traceOf(t, o)) {
		var r trace.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if !r.IsRecord() {
			if !strings.Contains(line, `"message":`) {
				t.Errorf("neither a record nor a note: %s", line)
			}
			continue
		}
		if records[r.Incarnation]++; r.Seq != records[r.Incarnation] {
			t.Errorf("record %d of %s has number %d", records[r.Incarnation], r.Incarnation, r.Seq)
		}
	}
	if len(records) < 3 {
		t.Errorf("records of %d processes", len(records))
	}
}

// "--json gives, on one line, at least algorithm, nodes, seed, leader, term,
// messages (by kind, and total), transmission_times, violations."
func TestResultJSON(t *testing.T) {
	r := mustRun(t, Options{Algorithm: algorithmOf(t, "ring"), Seed: 3, Nodes: 4, Initiators: []proto.NodeID{4}})
	line, err := r.JSON()
	if err != nil || bytes.ContainsRune(line, '\n') {
		t.Fatalf("%v: %s", err, line)
	}
	var got map[string]any
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"algorithm": "ring", "nodes": 4.0, "seed": 3.0, "leader": 4.0, "term": 2.0,
		"transmission_times": 8.0, "violations": []any{},
		"messages": map[string]any{"ELECTED": 4.0, "ELECTION": 4.0, "total": 8.0},
	} {
		if fmt.Sprint(got[key]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

// "It prints its seed and every option it drew", and the command line that gives
// the same run again.
func TestResultText(t *testing.T) {
	r, err := Run(Options{Algorithm: toyAlgorithm(deafened), Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	wants := append(r.Drawn, "ringleader simulate --algorithm toy --seed 11", "agreement")
	for _, want := range wants {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
	if len(r.Drawn) < 8 {
		t.Errorf("drew only %v", r.Drawn)
	}
}

// A Summary does not depend on how many runs go on at a time.
func TestBatchIsDeterministic(t *testing.T) {
	var lines []string
	for _, parallelism := range []int{1, 3} {
		o := Options{Algorithm: toyAlgorithm(sound), Seed: 7}
		calls := 0
		s, err := Batch(context.Background(), o, 50, parallelism, func(int) { calls++ })
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.JSON()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
		if calls != 50 {
			t.Errorf("progress was called %d times", calls)
		}
	}
	if lines[0] != lines[1] {
		t.Errorf("%s\n%s", lines[0], lines[1])
	}
}

// A Batch ends after a few runs with violations, and each says how to see it again.
func TestBatchStopsAtViolations(t *testing.T) {
	s, err := Batch(context.Background(), Options{Algorithm: toyAlgorithm(deafened)}, 1000, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Runs < maxFailed || s.Runs > 100 {
		t.Errorf("%d runs", s.Runs)
	}
	v := s.Violations[0]
	if want := fmt.Sprintf("--seed %d", v.Seed); !strings.Contains(v.Repro, want) {
		t.Errorf("%q does not have %s", v.Repro, want)
	}
}

func TestBatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Algorithm: toyAlgorithm(sound)}
	s, err := Batch(ctx, o, 1_000_000, 2, func(int) { cancel() })
	if !errors.Is(err, context.Canceled) || s.Runs == 0 || s.Runs > 100 {
		t.Errorf("%d runs, %v", s.Runs, err)
	}
}

func TestOptionsThatMakeNoSimulation(t *testing.T) {
	a := toyAlgorithm(sound)
	for want, o := range map[string]Options{
		"no algorithm":                  {},
		"must not be negative":          {Algorithm: a, Nodes: -1},
		"at least a microsecond":        {Algorithm: a, Delta: 1},
		"--detector x: want perfect":    {Algorithm: a, Detector: "x"},
		"needs --nodes":                 {Algorithm: a, Initiators: []proto.NodeID{1}},
		"either some nodes or all":      {Algorithm: a, Nodes: 3, Initiators: []proto.NodeID{1}, AllInitiate: true},
		"--crash and --shuffle are for": {Algorithm: a, Crashed: []proto.NodeID{1}},
		"--detector none is for":        {Algorithm: a, Detector: None},
		"the nodes are 1 to 3":          {Algorithm: a, Nodes: 3, Initiators: []proto.NodeID{4}},
		"perfect, or none":              {Algorithm: a, Nodes: 3, Initiators: []proto.NodeID{1}, Detector: Late},
		"it is dead at the start": {
			Algorithm: a, Nodes: 3, Initiators: []proto.NodeID{3}, Crashed: []proto.NodeID{3},
		},
		"--crashed 4: no such node": {Algorithm: a, Nodes: 3, AllInitiate: true, Crashed: []proto.NodeID{4}},
		"all nodes are dead":        {Algorithm: a, Nodes: 1, AllInitiate: true, Crashed: []proto.NodeID{1}},
		"for one election: give":    {Algorithm: a, Shuffle: true},
		"--nodes and --ring":        {Algorithm: a, Nodes: 3, AllInitiate: true, Members: scenario.Numbered(3)},
		"node 1 is there twice": {
			Algorithm: a, AllInitiate: true, Members: append(scenario.Numbered(3), scenario.Numbered(1)...),
		},
		"leave --voters drawn out": {Algorithm: leased(t, "ring"), Nodes: 3, Initiators: []proto.NodeID{1}},
	} {
		_, err := Run(o)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
	}
	for _, err := range []error{
		batchError(Options{Algorithm: a}, 0, 1), batchError(Options{Algorithm: a}, 1, 0),
		batchError(Options{Algorithm: a, Trace: io.Discard}, 1, 1), batchError(Options{}, 1, 1),
	} {
		if !errors.Is(err, ErrOptions) {
			t.Errorf("got %v", err)
		}
	}
}

func batchError(o Options, runs, parallelism int) error {
	_, err := Batch(context.Background(), o, runs, parallelism, nil)
	return err
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// A trace that cannot be written is an error, not a shorter trace.
func TestTraceThatCannotBeWritten(t *testing.T) {
	for _, traceJSON := range []bool{false, true} {
		o := Options{Algorithm: toyAlgorithm(sound), Trace: fullDisk{}, TraceJSON: traceJSON}
		if _, err := Run(o); !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
}

func TestRepro(t *testing.T) {
	yes := true
	o := Options{
		Algorithm: toyAlgorithm(sound), Seed: 9, Nodes: 5, Preempt: &yes,
		Detector: None, Initiators: []proto.NodeID{1}, Crashed: []proto.NodeID{5},
	}
	want := "ringleader simulate --algorithm toy --seed 9 --nodes 5 --preempt=true" +
		" --detector none --initiator 1 --crashed 5"
	if got := o.Repro(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o = Options{Algorithm: leased(t, "ring"), Seed: 2}
	if want, got := "ringleader simulate --algorithm ring --voters drawn --seed 2", o.Repro(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o = Options{Algorithm: onStore(t, "ring"), Seed: 2}
	if want, got := "ringleader simulate --algorithm ring --store drawn --seed 2", o.Repro(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o = Options{Algorithm: toyAlgorithm(sound), AllInitiate: true, Shuffle: true}
	want = "ringleader simulate --algorithm toy --seed 0 --initiator all --shuffle"
	if got := o.Repro(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
