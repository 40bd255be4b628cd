package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// Promise: leaders that meet again "1. Stop all leaders 2. Compare states 3.
// Reconcile conflicts 4. Re-elect single leader 5. Resume operations": in this order,
// with the command in between, and a report on every node.
func TestSplitBrainIsRecoveredFrom(t *testing.T) {
	t.Parallel()
	const overlap = 900 // milliseconds, of the second for which two led
	each(t, entriesOf("bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		seen := filepath.Join(t.TempDir(), "seen")
		e := newE2E(t, entry.Name, 3, append([]string{
			"--reconcile-cmd",
			`echo "$RINGLEADER_ID: $RINGLEADER_SPLIT_LEADERS; $RINGLEADER_SPLIT_OVERLAP_MS" >> ` + seen,
		}, calm...)...)
		next, old, woken := e.splitBrain(entry, time.Second)

		by := uint64(0)
		for _, n := range e.Nodes() {
			var split trace.Split
			e.check(e.Wait(e.ctx, func() (ok bool) {
				split, ok = e.recovered(n.ID, woken, overlap)
				return ok
			}))
			if by != 0 && split.By != by {
				t.Errorf("node %v tells of a recovery by %v, node 1 of one by %v", n.ID, split.By, by)
			}
			by = split.By
		}
		last := e.agreed()
		if last.Term <= next.Term {
			t.Errorf("leader %v of term %v: want a term after %v", last.Leader, last.Term, next.Term)
		}
		said, err := os.ReadFile(seen)
		e.check(err)
		leaders := toldOf(t, string(said), by, overlap)
		if !slices.Contains(leaders, old.Leader.String()) || !slices.Contains(leaders, next.Leader.String()) {
			t.Errorf("the command was told %q", said)
		}
		for _, n := range e.Nodes() {
			s, err := httpapi.Client{Addr: n.HTTP}.Status(e.ctx)
			e.check(err)
			if s.Split == nil || s.Split.By != by || s.Split.Leader != uint64(last.Leader) ||
				s.Split.OverlapMS < overlap && s.Counters["split_brains"] == 1 ||
				s.Counters["split_brain_ms"] < overlap ||
				s.Split.Reconcile == nil || s.Split.Reconcile.Exit != 0 {
				t.Errorf("node %v tells of %+v, counters %v", n.ID, s.Split, s.Counters)
			}
		}
		e.fiveSteps(by)
	})
}

// toldOf is what the command was told, on the node that recovered, of a split in which two led at once
// for so many milliseconds, or more: who had led. A nominee that was deposed meanwhile may have
// reconciled the same split before.
func toldOf(t *testing.T, said string, by uint64, atLeast float64) (leaders []string) {
	t.Helper()
	for line := range strings.Lines(said) {
		head, ms, _ := strings.Cut(strings.TrimSpace(line), "; ")
		id, ids, _ := strings.Cut(head, ": ")
		var on uint64
		var lasted float64
		if _, err := fmt.Sscanf(id+" "+ms, "%d %f", &on, &lasted); err != nil {
			t.Fatalf("the command was told %q: %v", said, err)
		}
		if on == by && lasted >= atLeast {
			return strings.Fields(ids)
		}
	}
	t.Fatalf("node %v recovered, the command was told %q", by, said)
	return nil
}

// splitBrain lets two nodes believe that they lead, for at least so long: the leader
// is stopped, another takes its place, and it wakes.
func (e e2e) splitBrain(entry catalog.Entry, both time.Duration) (next, old testcluster.Belief, woken time.Time) {
	e.Helper()
	e.check(e.StartAll())
	first := e.agreed()
	if entry.Preempt {
		first = e.leads(3)
	}
	e.check(e.Wait(e.ctx, e.settled)) // else the recovery of this split goes on with that of the start
	e.check(e.Pause(first.Leader))
	second := e.agreed(without(first.Leader, 1, 2, 3)...)
	if entry.Preempt {
		second = e.leads(2, 1, 2)
	}
	began := time.Now()
	e.check(e.Wait(e.ctx, func() bool { return time.Since(began) > both }))
	woken = time.Now()
	e.check(e.Resume(first.Leader))
	return second, first, woken
}

// settled reports whether every former leader that tells of its leadership was told that it is settled, or
// settled it: while a cluster starts, one may lead before all have met.
func (e e2e) settled() bool {
	open := map[uint64]bool{}
	for _, rec := range e.Records() {
		settles := func(s trace.Split) bool { return s.Stage == "electing" && s.By == rec.Node }
		if rec.Msg == splitbrain.KindResume.String() || slices.ContainsFunc(rec.Splits, settles) {
			delete(open, rec.Node)
		}
		if slices.ContainsFunc(rec.Sent, func(sent string) bool {
			return strings.HasPrefix(sent, splitbrain.KindReport.String()+">")
		}) {
			open[rec.Node] = true
		}
	}
	return len(open) == 0
}

// recovered is what a node told, after since, of a split that was recovered from, in which two
// led at once for so many milliseconds, or more. Another may have begun with the cluster, when
// not all had met yet, or when a leader that wakes leads in its successor's term for a moment.
func (e e2e) recovered(id proto.NodeID, since time.Time, atLeast float64) (split trace.Split, ok bool) {
	_, ok = e.recorded(since, func(r trace.Record) bool {
		if r.Node != uint64(id) {
			return false
		}
		for _, s := range r.Splits {
			if s.Stage == "recovered" && s.OverlapMS >= atLeast {
				split = s
				return true
			}
		}
		return false
	})
	return split, ok
}

// fiveSteps checks the order in which the node that recovered recorded the steps.
func (e e2e) fiveSteps(by uint64) {
	e.Helper()
	var stages []string
	for _, rec := range e.Records() {
		if rec.Node != by {
			continue
		}
		for _, s := range rec.Splits {
			stages = append(stages, s.Stage)
			if s.Stage == "stopping" && rec.Role == trace.Leading {
				e.Errorf("it leads while it recovers: %+v", rec)
			}
		}
	}
	want := []string{"stopping", "reconciling", "electing", "recovered"}
	if at := slices.Index(stages, "reconciling"); at < 1 || len(stages) < at+3 ||
		!slices.Equal(stages[at-1:at+3], want) {
		e.Errorf("the steps were %v, want %v", stages, want)
	}
}
