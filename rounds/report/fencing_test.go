package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "Recorded": a round tells whom the nominee had fenced before it led,
// and each attempt that failed.
func TestFencingIsTold(t *testing.T) {
	zero := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	b := rounds.NewBuilder()
	add := func(seq uint64, event string, leader uint64, why ...string) {
		b.Add(&trace.Record{
			Level: "info", Time: zero.Add(time.Duration(seq) * time.Millisecond), Cluster: "c", Node: 2,
			Incarnation: "aaaaaaaa", Algo: "bully", Seq: seq, Term: 7, Event: event, Why: why,
			Leader: leader, Guarantee: "lease",
		})
	}
	add(1, "timeout", 0, "no leader was heard of -> call an election of term 7",
		"no higher node is alive -> lead term 7")
	add(2, "fenced", 0, "5 is not fenced, exit 3 after 4ms: a -> b -> do not take the office, try again in 100ms")
	add(3, "gone", 0, "4 was seen to stop -> call the fence agent back")
	add(4, "fenced", 2, "5 is fenced, exit 0 after 40ms -> it has stopped",
		"whoever held the office before has stopped -> hold the office")
	for _, g := range b.History().Groups {
		var out bytes.Buffer
		if err := report.Explain(&out, g, g.Rounds[0], true); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{
			"Node 2 could not have node 5 fenced (exit 3 after 4ms: a -> b), and did not lead [2:2].",
			"Node 4 was seen to stop while the fence agent of node 2 was at it [2:3].",
			"Before it led, node 2 had node 5 fenced: exit 0 after 40ms [2:4].",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in: %s", want, text)
			}
		}
	}
}

// Promise: why nobody leads: because the former leader could not be fenced.
func TestNobodyLeadsUnfenced(t *testing.T) {
	b := rounds.NewBuilder()
	for seq, why := range []string{
		"no leader was heard of -> call an election of term 7",
		"this node is nominated and nobody holds the office -> ask the voters for term 7",
		"a majority would grant term 7 -> claim it",
		"a majority granted term 7, but 5 of term 6 was not seen to stop -> see to that first",
		"5 is not fenced, exit 3 after 4ms -> leave the office to others",
	} {
		b.Add(&trace.Record{
			Level: "info", Time: time.Unix(int64(seq), 0), Cluster: "c", Node: 2, Incarnation: "aaaaaaaa",
			Algo: "bully", Seq: uint64(seq) + 1, Term: 7, Event: "fenced", Why: []string{why}, Guarantee: "lease",
		})
	}
	g := b.History().Groups[0]
	if got := g.Incidents[0].Why; got != "no leader was known, and by the records 1 attempt to fence node 5 failed "+
		"(exit 3 after 4ms)" {
		t.Errorf("the change: %q", got)
	}
	var out bytes.Buffer
	if err := report.WhyNot(&out, g, 2); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	want := "Node 2 could not have node 5 fenced (exit 3 after 4ms), and did not lead [2:5]."
	if !strings.Contains(text, want) || strings.Contains(text, "no majority granted it") {
		t.Errorf("no %q in: %s", want, text)
	}
}

// While the agent is at it, the round says what the nominee waits for, and not
// that a majority was missing.
func TestLeadingWaitsForTheAgent(t *testing.T) {
	b := rounds.NewBuilder()
	add := func(node, seq uint64, ms int, event string, why []string, sent ...string) {
		b.Add(&trace.Record{
			Level: "info", Time: time.UnixMilli(int64(ms)), Cluster: "c", Node: node, Incarnation: "aaaaaaaa",
			Algo: "bully", Seq: seq, Term: 7, Event: event, Why: why, Sent: sent, Guarantee: "lease",
		})
	}
	add(2, 1, 0, "timeout", []string{
		"this node is nominated and nobody holds the office -> ask the voters for term 7",
	}, "ASK>1#2:1", "ASK>3#2:2")
	add(1, 1, 1, "timeout", []string{"2 asks for term 7 -> yes"}, "ANSWER>2#1:1")
	add(2, 2, 2, "timeout", []string{"a majority would grant term 7 -> claim it"}, "CLAIM>1#2:3", "CLAIM>3#2:4")
	add(1, 2, 3, "timeout", []string{"nothing binds this voter -> grant 2 term 7"}, "GRANT>2#1:2")
	add(2, 3, 4, "timeout", []string{
		"a majority granted term 7, but 3 of term 6 was not seen to stop -> see to that first",
	})
	var out bytes.Buffer
	if err := report.WhyNot(&out, b.History().Groups[0], 2); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	want := "A majority granted node 2 the term, but 3 of term 6 was not seen to stop: it does not lead " +
		"before [2:3]."
	if !strings.Contains(text, want) || strings.Contains(text, "no majority granted it") {
		t.Errorf("no %q in: %s", want, text)
	}
}
