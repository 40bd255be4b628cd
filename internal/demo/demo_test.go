package demo

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// demoRecords are a bully's round after node 4 was killed, and what followed.
func demoRecords(killed time.Time) []trace.Record {
	four := uint64(4)
	records := []trace.Record{
		{Node: 3, Seq: 7, Term: 1, Event: "receive", From: 1, Msg: "ELECTION", MsgID: "1:1", Leader: 4},
		{
			Node: 2, Seq: 8, Event: "peers", Alive: []uint64{1, 2, 3}, Evidence: "link-closed 4, dial-refused 4",
			Why:  []string{"leader 4 is gone -> call an election of term 2"},
			Sent: []string{"ELECTION>3#2:1", "ELECTION>4#2:2"}, LeaderChange: trace.Lost, PrevLeader: &four,
		},
		{
			Node: 3, Seq: 8, Event: "receive", From: 2, Msg: "ELECTION", MsgID: "2:1", Detail: "ELECTION candidate 2:0",
			Why:  []string{"term 2 is above 1 -> adopt it", "2 ranks below this node -> say OK"},
			Sent: []string{"OK>2#3:2", "ELECTION>4#3:3"}, LeaderChange: trace.Lost, PrevLeader: &four,
		},
		{
			Node: 3, Seq: 9, Event: "peers", Alive: []uint64{1, 2, 3}, Evidence: "link-closed 4",
			Why:  []string{"no higher node is alive any more -> lead term 2"},
			Sent: []string{"COORDINATOR>1#3:4", "COORDINATOR>2#3:5"}, Leader: 3, LeaderChange: trace.Elected,
		},
		{Node: 2, Seq: 9, Event: "receive", From: 3, Msg: "OK", MsgID: "3:2", Why: []string{"3 is higher -> wait"}},
		{
			Node: 1, Seq: 8, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:4",
			Why:    []string{"3 leads term 2 -> follow it"},
			Leader: 3, LeaderChange: trace.Elected, PrevLeader: &four,
		},
		{
			Node: 2, Seq: 10, Event: "receive", From: 3, Msg: "COORDINATOR", MsgID: "3:5",
			Why: []string{"3 leads term 2 -> follow it"}, Leader: 3, LeaderChange: trace.Elected,
		},
		{Node: 3, Seq: 10, Event: "timeout", Sent: []string{"COORDINATOR>1#3:6"}, Leader: 3},
	}
	for i, ms := range []float64{-5, 0.5, 0.7, 0.9, 1, 1.25, 1.5, 900} {
		rec := &records[i]
		rec.Time = killed.Add(time.Duration(ms * float64(time.Millisecond)))
		rec.Level, rec.Algo, rec.Incarnation = "info", "bully", "a1"
		rec.Term = max(1, min(2, uint64(i+1)))
	}
	return records
}

// Promise: "who noticed the death and how, each message of the round in order,
// … and the milliseconds of detecting and electing".
func TestTellElection(t *testing.T) {
	killed := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	dead := death{node: 4, at: killed}
	e := findElection(demoRecords(killed), killed, 2, dead)
	if len(e) != 1 {
		t.Fatalf("%d rounds, want that of term 2", len(e))
	}
	var out bytes.Buffer
	teller{&out}.draw(e)
	const want = `   term 2, bully: node 3 leads
     leader 4 is gone (node 2: link-closed 4, dial-refused 4)

     ms  1       2       3       4
   ── detect 500 µs ────────────────────────────────────────────────────────────
   ── elect 400 µs ─────────────────────────────────────────────────────────────
   0.00  │       ●       │       †       link-closed 4, dial-refused 4
         │       ┊       │               leader 4 is gone
         │       ●──────►┼──────✗        ELECTION > 3 4; gone: 4
   0.20  │       ┊       ●               from 2: ELECTION
         │       ┊       ┊               2 ranks below this node
         │       ┊◄──────●               OK > 2
         │       ┊       ●──────✗        ELECTION > 4; gone: 4
   0.40  │       ┊       ★               link-closed 4
         │       ┊       ┃               no higher node is alive any more
         │◄──────┼◄──────●               COORDINATOR > 1 2
         │       ┊       ┃               ★ leads term 2
   ── announce 600 µs ──────────────────────────────────────────────────────────
   0.75  ●       ┊       ┃               from 3: COORDINATOR
         │       ┊       ┃               3 leads term 2
   1.00  │       ●       ┃               from 3: COORDINATOR
         │       │       ┃               3 leads term 2

   ● takes a step, ┃ leads, │ follows, ┊ knows no leader, † is gone, ✗ never
   arrived, ? no receipt in the records
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
	const took = "detect 0.5 ms + elect 0.4 ms + announce 0.6 ms, 6 messages"
	if got := cost(e, dead); got != took {
		t.Errorf("cost %q, want %q", got, took)
	}
	if at := believed(e.last(), 2); !at.Equal(killed.Add(1500 * time.Microsecond)) {
		t.Errorf("node 2 believed at %v", at)
	}
}

// Promise: the demo tells "who noticed the death and how, each message of the round in order, … and the
// milliseconds of detecting and electing", also where a busy machine needs two terms for it.
func TestTellElectionOfTwoTerms(t *testing.T) {
	killed := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	records := demoRecords(killed)
	for i := range records[3:] {
		rec := &records[3+i]
		rec.Term, rec.Time = 3, rec.Time.Add(300*time.Millisecond)
	}
	records[3].Evidence = ""
	records[3].Why = []string{"no leader was heard of -> call an election of term 3"}
	dead := death{node: 4, at: killed}
	e := findElection(records, killed, 3, dead)
	var out bytes.Buffer
	teller{&out}.draw(e)
	last := -1
	for _, want := range []string{
		"term 2, bully: nobody led, as far as the records tell, term 3 came after it", // they begin with the death
		"leader 4 is gone (node 2: link-closed 4, dial-refused 4)", "ELECTION > 3 4",
		"\n\n   term 3, bully: node 3 leads", "COORDINATOR > 1 2",
	} {
		at := strings.Index(out.String(), want)
		if at <= last {
			t.Errorf("%q is not told, or not in its place:\n%s", want, out.String())
		}
		last = at
	}
	const took = "detect 0.5 ms + elect 300.4 ms + announce 0.6 ms, 6 messages"
	if got := cost(e, dead); got != took {
		t.Errorf("cost %q, want %q", got, took)
	}
	if e := findElection(records, killed.Add(time.Second), 3, dead); len(e) != 1 {
		t.Errorf("%d rounds since a second later, want that of the term alone", len(e))
	}
}

// A term that nobody won yet has no round to tell.
func TestFindElectionWithoutWinner(t *testing.T) {
	killed := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for _, term := range []proto.Term{2, 3} {
		if e := findElection(demoRecords(killed)[:3], killed, term, death{node: 4, at: killed}); e != nil {
			t.Errorf("term %d: %+v", term, e)
		}
	}
}

// Promise: the demo tells when all agreed only once the records of all are there, in
// whatever order the nodes write them.
func TestAgreedAt(t *testing.T) {
	killed := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	all, living := demoRecords(killed), []proto.NodeID{1, 2, 3}
	when := killed.Add(1500 * time.Microsecond)
	for missing, want := range map[int]time.Time{5: {}, 6: {}, 7: when} {
		records := slices.Delete(slices.Clone(all), missing, missing+1)
		e := findElection(records, killed, 2, death{node: 4, at: killed})
		if at := agreedAt(e.last(), living); !at.Equal(want) {
			t.Errorf("without record %d: %v, want %v", missing, at, want)
		}
	}
}
