package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// Promise: why nobody leads: "no quorum and who is missing".
func TestNoQuorum(t *testing.T) {
	zero := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	b := rounds.NewBuilder()
	add := func(node, seq uint64, ms int, event string, why []string, sent ...string) {
		b.Add(&trace.Record{
			Level: "info", Time: zero.Add(time.Duration(ms) * time.Millisecond), Cluster: "c", Node: node,
			Incarnation: "aaaaaaaa", Algo: "bully", Seq: seq, Term: 7, Event: event, Why: why, Sent: sent,
			Role: trace.Looking, Guarantee: "lease",
		})
	}
	add(1, 1, 0, "timeout", []string{
		"no leader was heard of -> call an election of term 7", "no higher node is alive -> lead term 7",
		"this node is nominated and nobody holds the office -> ask the voters for term 7",
	}, "ASK>2#1:1", "ASK>3#1:2", "ASK>4#1:3", "ASK>5#1:4")
	add(2, 1, 2, "timeout", []string{"1 asks for term 7 -> yes"}, "ANSWER>1#2:1")
	add(3, 1, 2, "timeout", []string{"1 asks for term 7 -> no, promised 5"}, "ANSWER>1#3:1")
	for _, g := range b.History().Groups {
		var out bytes.Buffer
		if err := report.WhyNot(&out, g, 1); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{
			"Nobody leads", "No quorum: node 1 asked the voters (1, 2, 3, 4 and 5) and 2 of 5 would grant; " +
				"3 are needed [1:1 2:1].",
			"No answer of nodes 4 and 5 is in the records.",
			"Node 3, which had promised node 5 to grant nobody else for a while, said no [3:1].",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in: %s", want, text)
			}
		}
	}
}

// What a round with voters is told of: the majority that granted, in time and late,
// who said no and why, what it cost by the book.
func TestLeaseIsExplained(t *testing.T) {
	for file, wants := range map[string][]string{
		"office-kill": {
			"a majority of the voters (1, 2, 3, 4 and 5) granted it the term: nodes 2, 3 and 4",
			"The rule: “The lease makes a nominee a leader",
			"Node 2, which had promised node 5 to grant nobody else for a while, first said no, and granted it when " +
				"that was over [4:15].",
			"Node 1 granted it too, after node 4 had won [1:19].", "No answer of node 5 is in the records.",
		},
		"office-no-quorum": {
			"No quorum: node 1 asked the voters (1, 2 and 3) and 1 of 3 would grant; 2 are needed",
			"No answer of nodes 2 and 3 is in the records.",
		},
	} {
		b := rounds.NewBuilder()
		batch := logs.Batch{Paths: []string{"../testdata/" + file + ".log"}}
		batch.Read(b, func(err error) { t.Fatal(err) })
		g := b.History().Groups[0]
		var out bytes.Buffer
		if err := report.Explain(&out, g, g.Rounds[len(g.Rounds)-1], true); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in: %s", file, want, text)
			}
		}
	}
}

// "DENY 4" was counted, and no sentence named who said no: voters refused others than the candidate that won.
func TestExplainTellsWhoWasRefusedBeside(t *testing.T) {
	for name, of := range map[string]struct {
		term uint64
		want string
	}{
		"outage-17s-quorum-lost": {5, "Nodes 2 and 5, which had started anew, and might have promised something " +
			"before that, said no to node 4, which led before [4:163 4:166]."},
		"raft-false-two-leaders": {2, "Nodes 1 and 4, which had promised node 5 to grant nobody else for a while, " +
			"said no to node 2 [4:4 1:4]."},
	} {
		g := caseOf(t, name)
		for _, r := range g.Rounds {
			if r.Term != of.term {
				continue
			}
			var out bytes.Buffer
			if err := report.Explain(&out, g, r, false); err != nil {
				t.Fatal(name, err)
			}
			tells(t, out.String(), of.want)
		}
	}
}

// When many nodes start at once, nearly each says no to nearly each: one sentence tells of all.
func TestExplainFoldsManyWhoWereRefused(t *testing.T) {
	g := caseOf(t, "raft-false-two-leaders")
	r := g.Rounds[slices.IndexFunc(g.Rounds, func(r *rounds.Round) bool { return r.Term == 2 })]
	for _, v := range slices.Clone(r.Verdicts) {
		if v.Loser == 2 && v.Denial != "" {
			for _, v.Loser = range []uint64{3, 4} {
				r.Verdicts = append(r.Verdicts, v)
			}
		}
	}
	var out bytes.Buffer
	if err := report.Explain(&out, g, r, false); err != nil {
		t.Fatal(err)
	}
	tells(t, out.String(), "Nodes 2, 3 and 4 asked for the term, too, and were refused [5:4].")
	if strings.Contains(out.String(), "said no to node") {
		t.Error(out.String())
	}
}
