package rounds_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "No finding on a healthy run": the log of the node that called the election ends while it goes on. Records of another
// node, whose clock is hours ahead and nothing compares, do not tell that it never ended.
func TestClocksApartEndNoElection(t *testing.T) {
	call := trace.Record{
		Level: "info", Time: atMS(0), Cluster: "c", Node: 1, Incarnation: "n1", Algo: "bully", Seq: 2, HLC: "0.0",
		Term: 1, Event: "timeout", Why: []string{"no leader was heard of -> call an election of term 1"},
		Role: "looking", Guarantee: "best-effort",
	}
	later := func(node uint64, after time.Duration) trace.Record {
		r := call
		r.Node, r.Incarnation, r.Time, r.Why = node, "later", call.Time.Add(after), []string{"x -> y"}
		return r
	}
	own := later(1, 9*time.Second)
	own.Incarnation, own.Seq = call.Incarnation, 3
	for name, c := range map[string]struct {
		last trace.Record
		ends bool
	}{
		"another node, hours later": {later(2, 8*time.Hour), true},
		"the node itself":           {own, false},
	} {
		b := rounds.NewBuilder()
		for _, r := range []trace.Record{call, c.last} {
			b.Add(&r)
		}
		found := slices.ContainsFunc(b.History().Groups[0].Findings, func(f rounds.Finding) bool {
			return f.Name == rounds.NoEnd
		})
		if found == c.ends {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// "A cluster that is stopped … is none": a node that is told to stop writes lines for a second more, as that nobody
// answers it, when most voters had been killed just before. Records of a second more do prove that nobody leads.
func TestWhoIsToldToStopEndsNoElection(t *testing.T) {
	for _, records := range []bool{false, true} {
		v := newVoters()
		v.level = "info"
		v.lead(1, 10, 1)
		v.lose(1, 2000, "link-closed 3, dial-refused 3", 1, 2)
		v.lose(1, 2001, "link-closed 2, dial-refused 2", 1)
		v.ask(1, 2500, 2)
		if v.b.Left(trace.Farewell{Time: atMS(3900), Cluster: "c", Node: 1}); records {
			v.ask(1, 3800, 2)
		}
		g := v.b.History().Groups[0]
		if in := v.last(); in.Leaderless < 1800*time.Millisecond || (len(g.Findings) > 0) != records {
			t.Errorf("records %v: found %+v: %+v", records, g.Findings, in)
		}
	}
}
