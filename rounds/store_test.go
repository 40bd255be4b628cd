package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// onStore is a record of node 2 of a cluster whose leadership stands on a store.
func onStore(ms int, seq, term, round uint64, event string, leader uint64, reasons ...trace.Reason) trace.Record {
	rec := trace.Record{
		Level: "info", Time: atMS(ms), Cluster: "c", Node: 2, Incarnation: "n2", Algo: "bully", Seq: seq,
		HLC: "0.0", Term: term, Round: round, Store: "redis", Event: event, Reasons: reasons,
		Why: make([]string, len(reasons)), Role: "looking", Leader: leader, Guarantee: "lease-until-failover",
	}
	if leader != 0 {
		rec.Role, rec.Token = "leader", term
		rec.ValidUntil = atMS(ms + 4000)
	}
	return rec
}

func aNumber(n uint64) trace.Arg { return trace.Arg{Is: trace.Number, Number: n} }

func cause(code string) trace.Arg {
	return trace.Arg{Is: trace.Cause, Reason: &trace.Reason{Code: code}}
}

// "The inspector tells it: rounds, explain and why-not on a store, with what the store said."
func TestStoreAwayIsTold(t *testing.T) {
	prev := []uint64{0, 2}
	lead := onStore(0, 1, 1, 0, "store", 2, trace.Reason{
		Code: "store.lead", Args: []trace.Arg{cause("store.nominated"), aNumber(1)},
	})
	lead.PrevLeader, lead.LeaderChange = &prev[0], "elected"
	lost := onStore(4000, 3, 1, 0, "timeout", 0, trace.Reason{
		Code: "store.step-down", Args: []trace.Arg{cause("store.ran-out"), aNumber(1)},
	})
	lost.PrevLeader, lost.LeaderChange = &prev[1], "lost"
	// The nomination numbers its elections by itself: 8 is the election of the next leadership.
	again := onStore(9000, 5, 2, 8, "store", 2, trace.Reason{
		Code: "store.lead", Args: []trace.Arg{cause("store.nominated"), aNumber(2)},
	})
	again.PrevLeader, again.LeaderChange = &prev[0], "elected"
	b := rounds.NewBuilder()
	for _, rec := range []trace.Record{
		lead,
		onStore(1500, 2, 1, 0, "timeout", 2, trace.Reason{Code: "store.failed", Args: []trace.Arg{
			{Is: trace.Words, Words: "renew"},
			{Is: trace.Words, Words: "no answer came in time"},
			{Is: trace.Words, Words: "100ms"},
		}}),
		lost,
		onStore(8900, 4, 1, 8, "store", 0, trace.Reason{Code: "store.answers"}),
		again,
	} {
		b.Add(&rec)
	}
	g := b.History().Groups[0]
	const want = "the store did not answer node 2 (no answer came in time)"
	if n := len(g.Incidents); n != 2 || !strings.Contains(g.Incidents[1].Why, want) || !g.Incidents[1].Held() {
		t.Errorf("want %q, got %+v", want, g.Incidents)
	}
	for _, r := range g.Rounds {
		if r.Term > 2 {
			t.Errorf("an election of term %d is told", r.Term)
		}
	}
}

// What the store tells of a leader that a node does not follow yet is about that leader's term, and begins no round of
// its own, however far the nomination has counted.
func TestStoreTellsOfTheLeader(t *testing.T) {
	prev := uint64(0)
	lead := onStore(0, 1, 2, 3, "store", 2, trace.Reason{
		Code: "store.lead", Args: []trace.Arg{cause("store.nominated"), aNumber(2)},
	})
	lead.PrevLeader, lead.LeaderChange = &prev, "elected"
	told := onStore(1, 1, 2, 3, "store", 0)
	told.Node, told.Incarnation, told.Detail = 1, "n1", "first is node 2 n2 with token 2"
	known := onStore(2, 2, 2, 3, "store", 2)
	known.Node, known.Incarnation, known.Role = 1, "n1", "follower"
	changed := onStore(3, 3, 2, 3, "store-changed", 2)
	changed.Node, changed.Incarnation, changed.Role = 1, "n1", "follower"
	b := rounds.NewBuilder()
	for _, rec := range []*trace.Record{&lead, &told, &known, &changed} {
		b.Add(rec)
	}
	all := b.History().Groups[0].Rounds
	if len(all) != 1 || all[0].Term != 2 {
		t.Errorf("%d rounds, the last of term %d", len(all), all[len(all)-1].Term)
	}
}

// "Why did the leader lose its entry": its last record says whose entry was the first, and the cause says it.
func TestLostEntryIsTold(t *testing.T) {
	for holder, want := range map[string]string{
		"nobody": "the entry of node 2 was gone from the store: somebody removed it, or it ended early",
		"node 3": "the entry of node 2 was no longer the first in the store",
	} {
		prev := []uint64{0, 2}
		lead := onStore(0, 1, 1, 0, "store", 2, trace.Reason{
			Code: "store.lead", Args: []trace.Arg{cause("store.nominated"), aNumber(1)},
		})
		lead.PrevLeader, lead.LeaderChange = &prev[0], "elected"
		taken := trace.Reason{Code: "store.taken", Args: []trace.Arg{{Is: trace.Words, Words: holder}}}
		lost := onStore(2000, 2, 1, 0, "store", 0, trace.Reason{
			Code: "store.step-down", Args: []trace.Arg{{Is: trace.Cause, Reason: &taken}, aNumber(1)},
		})
		lost.PrevLeader, lost.LeaderChange = &prev[1], "lost"
		again := onStore(2200, 3, 2, 0, "store", 2, trace.Reason{
			Code: "store.lead", Args: []trace.Arg{cause("store.nominated"), aNumber(2)},
		})
		again.PrevLeader, again.LeaderChange = &prev[0], "elected"
		b := rounds.NewBuilder()
		for _, rec := range []trace.Record{lead, lost, again} {
			b.Add(&rec)
		}
		g := b.History().Groups[0]
		r := g.Rounds[len(g.Rounds)-1]
		if r.Cause.Kind != rounds.EntryLost || r.Cause.Text != want || r.Incident.Why != want {
			t.Errorf("%s: %+v, %s", holder, r.Cause, r.Incident.Why)
		}
	}
}
