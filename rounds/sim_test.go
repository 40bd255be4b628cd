package rounds_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// simulate runs an election and returns what the simulator says of it, and its
// trace.
func simulate(
	t *testing.T, entry catalog.Entry, nodes int, initiator proto.NodeID, asJSON bool,
) (sim.Result, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	result, err := sim.Run(sim.Options{
		Algorithm: sim.Algorithm{
			Name: entry.Name, Guarantee: entry.Guarantee, Preempt: entry.Preempt,
			New: entry.New, Agreement: entry.Agreement, Leased: entry.Leased, OwnLease: entry.OwnLease,
			Promise: entry.Promise,
		},
		Seed: 1, Nodes: nodes, Initiators: []proto.NodeID{initiator}, Trace: &out, TraceJSON: asJSON,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, &out
}

// What the votes of a leased election cost is by the book, unless something fails: most often
// the records have what the best case takes.
func TestVotesCost(t *testing.T) {
	bully, err := catalog.Lookup("bully")
	if err != nil {
		t.Fatal(err)
	}
	more := map[int]int{} // how many rounds cost so many messages more than the best case
	for seed := range uint64(20) {
		b := rounds.NewBuilder()
		if _, err := logs.Read(leasedRun(t, bully.WithLease(), seed), b); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.History().Groups[0].Rounds {
			if r.Ballot != nil && r.Ballot.Theory != nil {
				more[r.Ballot.Theory.Sent-r.Ballot.Theory.Best]++
			}
		}
	}
	for difference, times := range more {
		if times > more[0] {
			t.Errorf("%d rounds cost %d messages more than the best case, and %d cost that", times, difference, more[0])
		}
	}
}

func leasedRun(t *testing.T, e catalog.Entry, seed uint64) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	_, err := sim.Run(sim.Options{
		Algorithm: sim.Algorithm{
			Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New, Agreement: e.Agreement,
			Leased: e.Leased, OwnLease: e.OwnLease, Promise: e.Promise, Recovers: e.Recovers,
		},
		Seed: seed, Nodes: 5, Trace: &log, TraceJSON: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &log
}

// The simulator and the inspector agree on who leads and on every message, from
// the trace as JSON and from the one that is text for people.
func TestSimulated(t *testing.T) {
	for _, name := range catalog.Names() {
		entry, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, initiator := range []proto.NodeID{1, 4, 7} {
			for _, asJSON := range []bool{true, false} {
				result, log := simulate(t, entry, 7, initiator, asJSON)
				b := rounds.NewBuilder()
				if _, err := logs.Read(log, b); err != nil {
					t.Fatal(err)
				}
				g := b.History().Groups[0]
				r := g.Rounds[len(g.Rounds)-1]
				sent := 0
				for _, c := range r.Counts {
					sent += c.Sent
				}
				if g.Algorithm != name || g.Guarantee != string(entry.Guarantee) {
					t.Errorf("%s from %d, JSON %v: taken for %q, %s", name, initiator, asJSON, g.Algorithm, g.Guarantee)
				}
				if r.Winner == nil || proto.NodeID(r.Winner.Node) != result.Leader ||
					sent != result.Messages["total"] ||
					len(g.Findings) > 0 || r.Cause.Kind != rounds.Operator {
					t.Errorf("%s from %d, JSON %v: winner %+v, %d messages, findings %v; want %v, %d",
						name, initiator, asJSON, r.Winner, sent, g.Findings, result.Leader, result.Messages["total"])
				}
				// "Who was suppressed or outranked, by whom, by which rule."
				lost := initiator == 1 && result.Leader != 1
				if lost && !slices.ContainsFunc(r.Verdicts, func(v rounds.Verdict) bool {
					return v.Kind == rounds.Outranked && v.Loser == 1 && v.Over != 0 && v.Rule != ""
				}) {
					t.Errorf("%s, JSON %v: who outranked 1, by which rule? %+v", name, asJSON, r.Verdicts)
				}
			}
		}
	}
}

// "For each round: cause and first witness", "initiators and why each began":
// whatever reason a node gives under faults is understood, with every algorithm,
// with and without voters.
func TestSimulatedCausesAreKnown(t *testing.T) {
	for _, plain := range catalog.All() {
		for _, entry := range []catalog.Entry{plain.WithRecovery(), plain.WithLease()} {
			for seed := range uint64(12) {
				var log bytes.Buffer
				if _, err := sim.Run(sim.Options{
					Algorithm: sim.Algorithm{
						Name: entry.Name, Guarantee: entry.Guarantee, Preempt: entry.Preempt, New: entry.New,
						Agreement: entry.Agreement, Leased: entry.Leased,
						Promise: entry.Promise, Recovers: entry.Recovers,
					},
					Seed: seed, Trace: &log, TraceJSON: true,
				}); err != nil {
					t.Fatal(err)
				}
				b := rounds.NewBuilder()
				if _, err := logs.Read(&log, b); err != nil {
					t.Fatal(err)
				}
				for _, r := range b.History().Groups[0].Rounds {
					if len(r.Initiators) > 0 && r.Cause.Kind == rounds.Unexplained {
						t.Errorf("%s, seed %d, term %d: nobody understands %q", entry.Name, seed, r.Term, r.Cause.Text)
					}
					if !slices.IsSortedFunc(r.Steps, func(a, b rounds.Step) int { return a.Wall.Compare(b.Wall) }) {
						t.Errorf("%s, seed %d, term %d: not in the order of the simulation", entry.Name, seed, r.Term)
					}
					for _, c := range r.Counts {
						if rounds.Says(r.Algorithm, c.Kind) == "" {
							t.Errorf("%s, seed %d: nothing says what %s means", entry.Name, seed, c.Kind)
						}
					}
				}
			}
		}
	}
}

// "100 nodes in one round stay readable": no line of the whole grows with the
// nodes.
func TestHundredNodes(t *testing.T) {
	for _, name := range catalog.Names() {
		entry, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		_, log := simulate(t, entry, 100, 1, true)
		b := rounds.NewBuilder()
		if _, err := logs.Read(log, b); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		g := b.History().Groups[0]
		for _, r := range g.Rounds {
			if err := report.Show(&out, g, r, true); err != nil {
				t.Fatal(err)
			}
			if err := report.Explain(&out, g, r, true); err != nil {
				t.Fatal(err)
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			if n := len([]rune(string(line))); n > 90 {
				t.Fatalf("%s: a line of %d characters: %s", name, n, line)
			}
		}
	}
}

// The worst case is called that: no node but the lowest knew that the leader was gone, which so counts as
// alive in the winner's view, and not in the theory's n.
func TestWorstCaseWithADeadLeader(t *testing.T) {
	entry, err := catalog.Lookup("bully")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := sim.Run(sim.Options{
		Algorithm: sim.Algorithm{
			Name: entry.Name, Guarantee: entry.Guarantee, Preempt: entry.Preempt, New: entry.New,
			Agreement: entry.Agreement,
		},
		Nodes: 6, Initiators: []proto.NodeID{1}, Crashed: []proto.NodeID{6}, Trace: &out, TraceJSON: true,
	}); err != nil {
		t.Fatal(err)
	}
	b := rounds.NewBuilder()
	if _, err := logs.Read(&out, b); err != nil {
		t.Fatal(err)
	}
	all := b.History().Groups[0].Rounds
	if theory := all[len(all)-1].Theory; theory.Live != 5 || theory.Sent != 30 || theory.Worst != 30 {
		t.Errorf("%+v", theory)
	}
}
