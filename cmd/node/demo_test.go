package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/cluster"
)

// Promise: "who noticed the death and how, each message of the round in order,
// … and the milliseconds of detecting and electing".
func TestTellRound(t *testing.T) {
	kill := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	at := func(ms float64) time.Time {
		return kill.Add(time.Duration(ms * float64(time.Millisecond)))
	}
	r := cluster.Round{
		Since: kill, Result: cluster.Belief{Leader: 3, Term: 2},
		Notices: []cluster.Notice{
			{Node: 2, At: at(0.5), Evidence: "link-closed 4, dial-refused 4"},
			{Node: 3, At: at(0.9), Evidence: "link-closed 4"},
		},
		Steps: []cluster.RoundStep{
			{
				Node: 2, At: at(0.5), Why: []string{"leader 4 is gone -> call an election of term 2"},
				Sent: []string{"ELECTION>3#2:1", "ELECTION>4#2:2"},
			},
			{Node: 3, At: at(0.7), Sent: []string{"OK>2#3:2", "ELECTION>4#3:3"}},
			{
				Node: 3, At: at(0.9), Why: []string{"no higher node is alive any more -> lead term 2"},
				Sent: []string{"COORDINATOR>1#3:4", "COORDINATOR>2#3:5"},
			},
		},
	}
	var out bytes.Buffer
	teller{&out}.noticed(r)
	teller{&out}.messages(r)
	const want = `   Who noticed, after how many ms, and how:
       0.50  node 2   link-closed 4, dial-refused 4
       0.90  node 3   link-closed 4

   What they said in term 2, in causal order:
       0.50  node 2   leader 4 is gone -> call an election of term 2
                      ELECTION > 3 4
       0.70  node 3   OK > 2
                      ELECTION > 4
       0.90  node 3   no higher node is alive any more -> lead term 2
                      COORDINATOR > 1 2
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWrap(t *testing.T) {
	const text = "COORDINATOR > 1 2 3 4"
	for _, line := range wrap(text, 15) {
		if len(line) > 15 {
			t.Errorf("%q is longer than 15", line)
		}
	}
	if got := wrap("", 5); len(got) != 1 || got[0] != "" {
		t.Errorf("nothing wraps into %q", got)
	}
}
