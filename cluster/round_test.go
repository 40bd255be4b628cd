package cluster

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/trace"
)

// records is a bully's round after the death of node 4, as three nodes log it.
func records(kill time.Time) []trace.Record {
	at := func(ms float64) time.Time {
		return kill.Add(time.Duration(ms * float64(time.Millisecond)))
	}
	return []trace.Record{
		{
			Time: at(-5), Node: 3, Term: 1, Event: "receive", Leader: 4,
			Sent: []string{"OK>1#3:1"},
		},
		{
			Time: at(0.5), Node: 2, Term: 2, Event: "peers", Alive: []uint64{1, 2, 3},
			Evidence: "link-closed 4, dial-refused 4",
			Why:      []string{"leader 4 is gone -> call an election of term 2"},
			Sent:     []string{"ELECTION>3#2:1", "ELECTION>4#2:2"},
		},
		{
			Time: at(0.7), Node: 3, Term: 2, Event: "receive", Alive: nil,
			Sent: []string{"OK>2#3:2", "ELECTION>4#3:3"},
		},
		{
			Time: at(0.9), Node: 3, Term: 2, Event: "peers", Alive: []uint64{1, 2, 3},
			Evidence: "link-closed 4", Leader: 3,
			Why:  []string{"no higher node is alive any more -> lead term 2"},
			Sent: []string{"COORDINATOR>1#3:4", "COORDINATOR>2#3:5"},
		},
		{Time: at(1.25), Node: 1, Term: 2, Event: "receive", Leader: 3},
		{Time: at(1.5), Node: 2, Term: 2, Event: "receive", Leader: 3},
		{
			Time: at(900), Node: 3, Term: 2, Event: "timeout", Leader: 3,
			Sent: []string{"COORDINATOR>1#3:6", "COORDINATOR>2#3:7"},
		},
	}
}

// Promise: "detect (from the leader's death, when known, to the first evidence),
// elect (to the winner's own belief) and announce (to the last follower's)". A
// leader that repeats itself later adds nothing.
func TestReadRound(t *testing.T) {
	kill := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	r := readRound(records(kill), kill, Belief{Leader: 3, Term: 2}, 4)
	for name, c := range map[string]struct{ got, want time.Duration }{
		"detect":   {r.Detect(), 500 * time.Microsecond},
		"elect":    {r.Elect(), 400 * time.Microsecond},
		"announce": {r.Announce(), 600 * time.Microsecond},
	} {
		if c.got != c.want {
			t.Errorf("%s %v, want %v", name, c.got, c.want)
		}
	}
	if len(r.Notices) != 2 || len(r.Steps) != 3 || r.Messages() != 6 {
		t.Errorf("%d notices, %d steps, %d messages; want 2, 3, 6",
			len(r.Notices), len(r.Steps), r.Messages())
	}
}

// A hung leader may be dropped without any news from a detector: nobody heard
// it. What the hung node itself records is no evidence.
func TestReadRoundWithoutNotice(t *testing.T) {
	stop := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	four := uint64(4)
	at := func(ms int) time.Time { return stop.Add(time.Duration(ms) * time.Millisecond) }
	r := readRound([]trace.Record{
		{Time: at(1), Node: 4, Term: 1, Event: "peers", Alive: []uint64{1, 2, 3}},
		{Time: at(5), Node: 3, Term: 2, Event: "timeout", PrevLeader: &four},
		{Time: at(9), Node: 3, Term: 2, Event: "timeout", Leader: 3},
	}, stop, Belief{Leader: 3, Term: 2}, 4)
	if r.Detect() != 5*time.Millisecond || r.Elect() != 4*time.Millisecond {
		t.Errorf("detect %v, elect %v; want 5ms, 4ms", r.Detect(), r.Elect())
	}
}

// A receiver's record may be read before the sender's.
func TestComplete(t *testing.T) {
	kill := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	all := records(kill)
	all[4].MsgID = "3:4"
	if !complete(all, kill, 2) {
		t.Error("complete records are not")
	}
	all[3].Sent = nil
	if complete(all, kill, 2) {
		t.Error("records are complete without the sender's")
	}
	if !complete(all, kill, 3) {
		t.Error("another term's records matter")
	}
}
