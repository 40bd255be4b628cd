package rounds_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
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
				strings.Contains(f.Text, " recovered from it: all who led stopped, it was reconciled, and then node ") {
				return
			}
		}
	}
	t.Errorf("no finding tells of it: %+v", g.Findings)
}

// "Node 5 outranks node 4 and took over": nobody led any more when it did, since two leaders had met and stopped.
func TestRecoveryIsNoTakeOver(t *testing.T) {
	s := newScript()
	lead := func(node uint64, ms int, term uint64, why ...string) {
		s.add(node, ms, trace.Record{Term: term, Event: "timeout", Leader: node, Why: why})
	}
	s.add(5, 0, trace.Record{Term: 1, Event: "timeout", Sent: []string{"OK>4#5:1"}, Why: []string{"x -> y"}})
	s.add(4, 1, trace.Record{Term: 1, Event: "receive", From: 5, Msg: "OK", MsgID: "5:1", Why: []string{"x -> y"}})
	s.add(4, 2, trace.Record{Term: 1, Event: "timeout", Sent: []string{"OK>5#4:1"}, Why: []string{"x -> y"}})
	s.add(5, 3, trace.Record{Term: 1, Event: "receive", From: 4, Msg: "OK", MsgID: "4:1", Why: []string{"x -> y"}})
	lead(4, 10, 2, "no higher node is alive -> lead term 2")
	s.add(4, 1000, trace.Record{Term: 2, Event: "receive", Why: []string{
		"split brain: 5 led term 1 and 4 led term 2 at once for 4.696s -> stop all leaders",
	}})
	s.add(5, 1300, trace.Record{Term: 3, Event: "timeout", Why: []string{
		"this node ranks above leader 4 -> call an election of term 3", "no higher node is alive -> lead term 3",
	}})
	lead(5, 1301, 4, "a split is mended -> call an election of term 4", "no higher node is alive -> lead term 4")
	all := s.b.History().Groups[0].Incidents
	if in := all[len(all)-1]; in.Why != "two leaders met, and all who led stopped" {
		t.Errorf("%q: %+v", in.Why, in)
	}
}
