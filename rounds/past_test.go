package rounds_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Every statement has its evidence": also where a Builder holds few records, the words of a proof of death stay with
// the proof, and no later view takes their place.
func TestBoundsKeepTheWordsOfAProof(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	full := rounds.NewBriefBuilder()
	bounded := rounds.NewBoundedBuilder(rounds.Bounds{Records: 20})
	seq, led := map[uint64]uint64{}, map[uint64]uint64{}
	add := func(node uint64, rec trace.Record) {
		seq[node]++
		at = at.Add(time.Millisecond)
		before := led[node]
		rec.Level, rec.Cluster, rec.Algo, rec.Guarantee = "debug", "proof", "bully", "best-effort"
		rec.Node, rec.Seq, rec.Incarnation, rec.Time, rec.PrevLeader = node, seq[node], "aa", at, &before
		led[node] = rec.Leader
		full.Add(&rec)
		bounded.Add(&rec)
	}
	for _, id := range []uint64{1, 2} {
		add(id, trace.Record{Event: "start", Role: trace.Looking})
		add(id, trace.Record{Event: "peers", Alive: []uint64{1, 2, 3, 5}, Evidence: "joined", Role: trace.Looking})
	}
	leader := uint64(0)
	for term := range uint64(40) {
		if term == 2 {
			add(1, trace.Record{
				Event: "gone", About: 5, Detail: "5 bb", Term: term, Role: trace.Following, Leader: leader,
			})
			add(1, trace.Record{
				Event: "peers", Alive: []uint64{1, 2, 3}, Evidence: "link-closed 5, dial-refused 5", Term: term,
				Role: trace.Following, Leader: leader,
			})
		}
		leader = 1 + term%2
		for _, id := range []uint64{leader, 3 - leader} {
			role, change := trace.Leading, trace.Elected
			if id != leader {
				role, change = trace.Following, trace.Elected
			}
			add(id, trace.Record{
				Event: "timeout", Term: term + 1, Why: []string{"no higher node is alive -> lead"}, Role: role,
				Leader: leader, LeaderChange: change,
			})
		}
		for _, view := range [][]uint64{{1, 2}, {1, 2, 3}} {
			at = at.Add(10 * time.Second)
			rec := trace.Record{Event: "peers", Alive: view, Term: term + 1, Role: trace.Following, Leader: leader}
			if len(view) == 2 {
				rec.Evidence = "left 3"
			}
			add(1, rec)
		}
	}
	want, got := goneOf(full.History(), 1), goneOf(bounded.History(), 1)
	if len(want) == 0 || want[0].Words.IsZero() {
		t.Fatalf("without bounds: %+v", want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("with bounds: %+v\nwithout: %+v", got, want)
	}
}

// goneOf returns whom the node has evidence against at the end.
func goneOf(h *rounds.History, id uint64) []rounds.Dropped {
	for _, n := range h.Groups[0].Nodes {
		if n.ID == id {
			return n.Gone
		}
	}
	return nil
}
