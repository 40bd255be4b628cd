package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Promise: a leader that hangs is replaced "within the heartbeat budget + one
// round", on the evidence of its heartbeat, and when it goes on all agree again.
// The machine may be busy, so the budget is taken generously.
func TestHungLeaderIsReplacedInTime(t *testing.T) {
	t.Parallel()
	const budget = 500 * time.Millisecond
	each(t, entriesOf("bully", "hs", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3)
		for _, n := range e.Nodes() {
			e.check(e.Start(n.ID, "--failover-budget", budget.String()))
		}
		first := e.agreed()
		if entry.Preempt {
			first = e.leads(3)
		}
		living := without(first.Leader, 1, 2, 3)
		for _, id := range living { // who never reached it finds it unreachable instead
			e.logs(id, `"evidence":"link-up `+first.Leader.String()+`"`)
		}
		stopped := time.Now()
		e.check(e.Pause(first.Leader))
		e.agreed(living...)
		if took := time.Since(stopped); took > 10*budget {
			t.Errorf("it took %v, the budget is %v", took, budget)
		}
		e.record("a missed heartbeat", stopped, func(r trace.Record) bool {
			return strings.Contains(r.Evidence, "heartbeat-missed "+first.Leader.String())
		})
		e.check(e.Resume(first.Leader))
		if entry.Preempt {
			e.leads(3)
		} else {
			e.agreed()
		}
	})
}

// Promise: nodes whose heartbeats differ warn of it on both sides.
func TestBudgetsThatDiffer(t *testing.T) {
	e := newE2E(t, "bully", 2)
	e.check(e.Start(1))
	e.check(e.Start(2, "--failover-budget", "3s"))
	e.leads(2)
	e.logs(1, "give all nodes the same failover budget")
	e.logs(2, "give all nodes the same failover budget")
}
