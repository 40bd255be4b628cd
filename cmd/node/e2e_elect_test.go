package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// elect runs ringleader elect at these nodes.
func (e e2e) elect(ids []proto.NodeID, more ...string) (code int, out string) {
	e.Helper()
	args := append([]string{"elect"}, more...)
	for _, id := range ids {
		args = append(args, "--addr", e.Node(id).HTTP)
	}
	return runRingleader(e.T, args...)
}

// elected has these nodes call an election, which must end well, and returns what the command says.
func (e e2e) elected(ids ...proto.NodeID) (said election) {
	e.Helper()
	code, out := e.elect(ids, "--output", "json", "--reason", "to see")
	if code != exitOK || json.Unmarshal([]byte(out), &said) != nil || len(said.Calls) != len(ids) {
		e.Fatalf("nodes %v call an election: exit %d: %s", ids, code, out)
	}
	return said
}

// isBelief fails the test unless the command named the leader on which the nodes agree.
func (e e2e) isBelief(said election, b testcluster.Belief) {
	e.Helper()
	if said.Leader != b.Leader || said.Term != b.Term {
		e.Errorf("the command says %+v, the nodes agree on %+v", said, b)
	}
}

// "Any process can call for an election", "Multiple processes are allowed to call an election simultaneously; all of
// them together must yield only a single leader", "The result of an election should not depend on which process calls
// for it": each node alone, the leader among them, then all at one instant. A term has one leader.
func TestElect(t *testing.T) {
	t.Parallel()
	each(t, alone(), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, patient...)
		e.check(e.StartAll())
		before := e.agreed() // not of node 3 if it came late, and nobody is pre-empted
		if entry.Preempt {
			before = e.leads(3)
		}
		for _, callers := range [][]proto.NodeID{{1}, {2}, {3}, e.IDs()} {
			said := e.elected(callers...)
			var b testcluster.Belief
			e.check(e.Wait(e.ctx, func() bool { // the callers know first, and the logs last
				beliefs := e.Beliefs(e.IDs()...)
				b = beliefs[1]
				agreed := beliefs[2] == b && beliefs[3] == b
				return agreed && b.Leader == 3 && b.Term > before.Term && b.Term >= said.Term
			}))
			if len(callers) == len(e.IDs()) {
				e.isBelief(said, b)
			}
			if said.Guarantee != entry.Guarantee || said.Term <= before.Term {
				t.Errorf("nodes %v called an election in term %d: %+v", callers, before.Term, said)
			}
			before = b
		}
		e.record("the call", time.Time{}, func(r trace.Record) bool {
			return r.Node == 1 && r.Event == "campaign" && strings.Contains(strings.Join(r.Why, " "),
				"asked by 127.0.0.1 because to see")
		})
		led := map[uint64]uint64{}
		for _, r := range e.Records() {
			if r.Leader != r.Node {
				continue
			}
			if other, ok := led[r.LeaderTerm()]; ok && other != r.Node {
				t.Errorf("nodes %d and %d led term %d", other, r.Node, r.LeaderTerm())
			}
			led[r.LeaderTerm()] = r.Node
		}
	})
}

// "At rest, and one that leads is not harmed": a leader that has a lease keeps it, its term and with it its token, when
// one node, the leader itself or all nodes at one instant call an election; also where a better node could lead.
func TestElectUnderALease(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "ring", "raft", "chubby"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, append([]string{"--voters", "1-3", "--lease", "15s"}, calm...)...)
		e.check(e.StartAll())
		e.agreed()
		e.handsOver(1, httpapi.Order{To: 2})
		first := e.leads(2)
		loan := e.borrows(2)
		for _, callers := range [][]proto.NodeID{{1}, {2}, e.IDs()} {
			said := e.elected(callers...)
			e.isBelief(said, first)
			const keeps = "no election: node 2 leads term "
			if !said.Guarantee.Leases() || !strings.HasPrefix(said.Calls[0].Done, keeps) {
				t.Errorf("nodes %v called an election: %+v", callers, said)
			}
		}
		if b := e.leads(2); b != first {
			t.Errorf("the calls changed %+v to %+v", first, b)
		}
		if again := e.borrows(2); again.FencingToken != loan.FencingToken {
			t.Errorf("the calls changed the token %v to %v", loan.FencingToken, again.FencingToken)
		}
		if r, ok := e.recorded(e.beganToLead(2, first.Term).Time, func(r trace.Record) bool {
			return r.Node == 2 && r.Leader != 2
		}); ok {
			t.Errorf("node 2 stopped leading meanwhile: %+v", r)
		}
	})
}

// "Any process can call for an election", and there is nobody who leads: all who could have resigned, and one that is
// resumed calls. A node that does not stand, or has no vote, calls none and says what to do.
func TestElectWhileNobodyLeads(t *testing.T) {
	e := newE2E(t, "bully", 4, append([]string{"--voters", "1-3"}, calm...)...)
	e.check(e.StartAll())
	e.leads(3)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.must(id, httpapi.Pause, httpapi.Order{})
	}
	e.leads(0)
	e.refuses(1, httpapi.Elect, httpapi.Order{}, "node 1 calls no election, as it does not stand: paused since")
	e.refuses(4, httpapi.Elect, httpapi.Order{}, "node 4 calls no election, as it is no voter: ask one of 1-3")
	e.must(2, httpapi.Resume, httpapi.Order{})
	if done := e.must(2, httpapi.Elect, httpapi.Order{}); done.Leader != 2 {
		t.Errorf("node 2 alone stands: %+v", done)
	}
	e.leads(2)
}

// "A paused cluster: clear refusal", and "an unreachable node: a clear error; the others still called".
func TestElectRefused(t *testing.T) {
	e := newE2E(t, "ring", 3, "--failover-budget", "10s")
	e.check(e.StartAll())
	first := e.leads(3)
	e.must(2, httpapi.Pause, httpapi.Order{Cluster: true, Reason: "network work"})
	for _, id := range e.IDs() {
		e.status(id, func(s httpapi.Status) bool { return s.Ineligible != "" })
	}
	code, out := e.elect(e.IDs())
	const paused = "node 1 calls no election, as it does not stand: the cluster is paused since "
	if code != exitError || !strings.Contains(out, paused) ||
		!strings.Contains(out, "because network work; resume it") {
		t.Errorf("in a paused cluster: exit %d: %s", code, out)
	}
	if b := e.leads(3); b != first {
		t.Errorf("refused calls changed %+v to %+v", first, b)
	}
	e.must(2, httpapi.Resume, httpapi.Order{Cluster: true})
	for _, id := range e.IDs() {
		e.status(id, func(s httpapi.Status) bool { return s.Ineligible == "" })
	}

	nobody := threeAddresses(t)[2]
	code, out = e.elect(e.IDs(), "--addr", nobody)
	if code != exitError || !strings.Contains(out, "elect: ask "+nobody+": no answer: ") ||
		!strings.Contains(out, "as nodes 1 2 3 say") {
		t.Errorf("with an address where nobody is: exit %d: %s", code, out)
	}
	for _, id := range e.IDs() { // the others were called
		e.status(id, func(s httpapi.Status) bool { return s.Leader == 3 && s.Term > first.Term })
	}

	e.check(e.Pause(1)) // its kernel takes the connection
	args := []string{"elect", "--timeout", "300ms", "--addr", e.Node(1).HTTP}
	text, err := exec.CommandContext(t.Context(), "ringleader", args...).CombinedOutput()
	e.check(e.Resume(1))
	if !strings.Contains(string(text), "no answer in time, as from a node that hangs") ||
		err == nil || err.Error() != "exit status 6" {
		t.Errorf("of a node that hangs: %v: %s", err, text)
	}
}
