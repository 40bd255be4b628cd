package rounds_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/trace"
)

// A leader that was stopped believes in itself until it wakes, but its lease has
// ended: that is no second leader. A lease that still runs is one.
func TestLeaseEndsAReign(t *testing.T) {
	zero := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return zero.Add(time.Duration(s * float64(time.Second))) }
	for lease, overlaps := range map[float64]bool{2: false, 9: true} {
		b := rounds.NewBuilder()
		add := func(node, seq, term, leader uint64, s float64, until time.Time, change trace.Change) {
			role, prev := trace.Leading, uint64(0)
			if leader == 0 {
				role, prev = trace.Looking, node
			}
			b.Add(&trace.Record{
				Level: "info", Time: at(s), Cluster: "c", Node: node, Session: "aaaaaaaa", Algo: "bully",
				Seq: seq, Term: term, Event: "timeout", Why: []string{"no leader was heard of -> lead"},
				Role: role, Leader: leader, Guarantee: "lease", ValidUntil: until,
				PrevLeader: &prev, LeaderChange: change,
			})
		}
		add(1, 1, 1, 1, 0, at(lease), trace.Elected)
		add(2, 1, 2, 2, 3, at(5), trace.Elected)
		add(1, 2, 1, 0, 10, time.Time{}, trace.Deposed)
		found := false
		for _, g := range b.History().Groups {
			for _, f := range g.Findings {
				found = found || f.Name == rounds.Overlap
			}
		}
		if found != overlaps {
			t.Errorf("a lease to %vs, another leads from 3s: overlap found %v", lease, found)
		}
	}
}
