package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// beganToLead is the record with which node id began to lead in this term or a
// later one.
func (e e2e) beganToLead(id proto.NodeID, term proto.Term) trace.Record {
	e.Helper()
	return e.record(fmt.Sprintf("node %v beginning to lead", id), time.Time{}, func(r trace.Record) bool {
		return r.Node == uint64(id) && r.Role == trace.Leading && r.Term >= uint64(term)
	})
}

// leaseEnd is the latest end of a lease that node id is known to have held.
func (e e2e) leaseEnd(id proto.NodeID) (end time.Time) {
	for _, r := range e.Records() {
		if r.Node == uint64(id) && r.Role == trace.Leading && r.ValidUntil.After(end) {
			end = r.ValidUntil
		}
	}
	return end
}

// "A leader whose process died is replaced in milliseconds although its lease
// still runs": its successor leads before that lease has ended.
func TestReplacesTheDeadAtOnce(t *testing.T) {
	t.Parallel()
	const lease = patience * 5 / 4
	each(t, some(t, catalog.All(), "bully", "raft", "ring"), func(t *testing.T, entry catalog.Entry) {
		// The promise is longer than this test may take, so nothing runs out. A node that misses the first
		// HEARTBEAT of the new leader gets the next one a quarter of it later, though, which is within the test.
		e := newE2E(t, entry.Name, 5, "--voters", "1-5", "--lease", lease.String())
		e.check(e.StartAll())
		first := e.agreed()
		for id := range proto.NodeID(5) {
			e.status(id+1, func(s httpapi.Status) bool { return len(s.Watched) == 4 })
		}
		killed, err := e.Kill(first.Leader)
		e.check(err)
		next := e.agreed(without(first.Leader, 1, 2, 3, 4, 5)...)
		took, end := e.beganToLead(next.Leader, next.Term), e.leaseEnd(first.Leader)
		if !took.Time.After(killed) || !took.Time.Before(end) {
			t.Errorf("killed at %v, replaced at %v, the lease ran to %v", killed, took.Time, end)
		}
		if took.Guarantee != "lease" || took.Token != uint64(next.Term) || next.Term <= first.Term {
			t.Errorf("%s with token %d, term %d after %d",
				took.Guarantee, took.Token, next.Term, first.Term)
		}
	})
}

func TestLongReplacesTheDeadAtOnce(t *testing.T) { TestReplacesTheDeadAtOnce(t) }

// "SIGSTOP, cut or power loss: lease + one round, at most", and not before the
// lease has ended: a process that is stopped proves nothing.
func TestWaitsForTheSilent(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	e.check(e.StartAll())
	e.leads(3)
	e.check(e.Pause(3))
	next := e.agreed(1, 2)
	took, end := e.beganToLead(next.Leader, next.Term), e.leaseEnd(3)
	if took.Time.Before(end) {
		t.Errorf("replaced at %v, while its lease ran to %v", took.Time, end)
	}
	e.check(e.Resume(3))
	e.agreed()
	e.ledNoLonger(3, end, took.Term)
}

// ledNoLonger checks that a node that was stopped, and led a term before the next leader's,
// did not after its lease. The pause may fall into a Step, whose record then comes after
// it, and says itself that the lease is over. No further Step may begin as a leader's.
func (e e2e) ledNoLonger(id proto.NodeID, end time.Time, next uint64) {
	e.Helper()
	interrupted := 0
	for _, r := range e.Records() {
		if r.Node != uint64(id) || r.Role != trace.Leading || !r.Time.After(end) || r.Term >= next {
			continue
		}
		if interrupted++; interrupted > 1 || r.ValidUntil.After(r.Time) {
			e.Errorf("node %v leads term %d at %v, after its lease, until %v", id, r.Term, r.Time, r.ValidUntil)
		}
	}
}

// "A majority of voters grants the nominee the term": without one nobody leads,
// and with one again somebody does.
func TestLeadingNeedsAMajority(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	e.check(e.StartAll())
	e.leads(3)
	for _, id := range []proto.NodeID{3, 2} {
		_, err := e.Kill(id)
		e.check(err)
	}
	e.leads(0, 1)
	e.check(e.Start(2))
	if b := e.agreed(1, 2); b.Leader == 0 {
		t.Error("nobody leads with 2 of 3 voters")
	}
}

// "Non-voters follow."
func TestVotesOfSome(t *testing.T) {
	e := newE2E(t, "ring", 4, "--voters", "1-3")
	e.check(e.StartAll())
	if b := e.agreed(); b.Leader == 4 {
		t.Error("node 4 leads without being a voter")
	}
	e.logs(4, "is none of the voters 1-3")
}

// "A node that differs gets no vote and says so on both sides."
func TestVotersThatDiffer(t *testing.T) {
	t.Parallel()
	for label, flags := range map[string][]string{
		"node 3 has voters 2-4":   {"--voters", "2-4"},
		"with leases of 1m0s":     {"--voters", "1-3", "--lease", "1m"},
		"waited out whoever dies": {"--voters", "1-3", "--await-leases"},
	} {
		t.Run(label, func(t *testing.T) {
			e := newE2E(t, "bully", 3)
			e.keeps(1, 2)
			e.check(e.Start(1, "--voters", "1-3"))
			e.check(e.Start(2, "--voters", "1-3"))
			e.agreed(1, 2)
			e.confirmed(1, 2)
			e.check(e.Start(3, flags...))
			e.agreed(1, 2)
			for _, id := range []proto.NodeID{1, 3} {
				e.logs(id, label)
				e.logs(id, "start the one that is wrong again, with what the others have")
			}
			if strings.Contains(e.Log(3), `"role":"leader"`) {
				t.Error("node 3 leads by votes of its own")
			}
		})
	}
}

// "Losing or leaving, in this order": the leader that is told to stop is followed
// by another at once, not after its promises.
func TestTermIsReleased(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3", "--lease", "10m")
	e.check(e.StartAll())
	first := e.agreed()
	e.check(e.Terminate(first.Leader))
	e.exits(first.Leader, exitOK)
	e.agreed(without(first.Leader, 1, 2, 3)...)
}
