package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// patience bounds every end-to-end test. It is for a machine that does much
// else at the same time: what is waited for usually takes a second.
const patience = time.Minute

// calm is for tests that want a living leader to stay: a node that comes back listens
// for it for ten latencies, and with this budget a busy machine keeps within them.
var calm = []string{"--failover-budget", "2s"}

// patient is for tests in which no answer may come too late, however long the machine does other things.
var patient = []string{"--failover-budget", "10s"}

// calmly is for tests in which no term of a living leader may end. Nodes of an algorithm without pre-emption elect at
// once, so patience costs such a test little.
func calmly(entry catalog.Entry) []string {
	if entry.Preempt {
		return calm
	}
	return patient
}

// e2e is a cluster of real processes under test.
type e2e struct {
	*testing.T
	*testcluster.Cluster
	ctx context.Context
}

func newE2E(t *testing.T, algorithm string, nodes int, args ...string) e2e {
	t.Helper()
	return newE2EOf(t, nil, algorithm, nodes, args...)
}

// newE2EOf is newE2E of nodes that run a command.
func newE2EOf(t *testing.T, command []string, algorithm string, nodes int, args ...string) e2e {
	t.Helper()
	return newE2EOn(t, nil, command, algorithm, nodes, args...)
}

// newE2EOn is newE2EOf on the given hosts; nil for loopback.
func newE2EOn(
	t *testing.T, hosts []testcluster.Host, command []string, algorithm string, nodes int, args ...string,
) e2e {
	t.Helper()
	return newE2EAs(t, testcluster.Config{
		Nodes: nodes, Algorithm: algorithm, Command: command, Hosts: hosts,
		Args: append([]string{"--log-level", "debug"}, args...),
	})
}

// newE2EAs returns a cluster as cfg says, with this test as its binary.
func newE2EAs(t *testing.T, cfg testcluster.Config) e2e {
	t.Helper()
	t.Parallel()
	var err error
	if cfg.Binary, err = exec.LookPath("ringleader"); err != nil { // this test binary: see TestMain
		t.Fatal(err)
	}
	c, err := testcluster.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	e := e2e{t, c, ctx}
	t.Cleanup(func() {
		cancel()
		e.check(c.Close())
		for _, n := range c.Nodes() {
			log := c.Log(n.ID)
			if strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") {
				t.Errorf("node %v:\n%s", n.ID, log)
			} else if t.Failed() {
				t.Logf("node %v:\n%s", n.ID, log)
			}
		}
	})
	return e
}

// threeAddresses are for a node that is no cluster's: gossip, election, HTTP.
func threeAddresses(t *testing.T) []string {
	t.Helper()
	ports, err := testcluster.HoldPorts(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Release)
	return ports.Addrs
}

func (e e2e) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// agreed is what nodes agree on.
func (e e2e) agreed(ids ...proto.NodeID) testcluster.Belief {
	e.Helper()
	b, err := e.WaitAgreed(e.ctx, ids...)
	e.check(err)
	return b
}

// leads waits until the nodes agree that leader leads.
func (e e2e) leads(leader proto.NodeID, ids ...proto.NodeID) testcluster.Belief {
	e.Helper()
	b, err := e.WaitLeader(e.ctx, leader, ids...)
	e.check(err)
	return b
}

// exits waits until node id ends with the code.
func (e e2e) exits(id proto.NodeID, want int) {
	e.Helper()
	code, err := e.WaitExit(e.ctx, id)
	e.check(err)
	if code != want {
		e.Errorf("node %v ended with code %d, want %d", id, code, want)
	}
}

// logs waits until node id has logged text.
func (e e2e) logs(id proto.NodeID, text string) {
	e.Helper()
	err := e.Wait(e.ctx, func() bool { return strings.Contains(e.Log(id), text) })
	if err != nil {
		e.Fatalf("node %v never logged %q: %v", id, text, err)
	}
}

// eventually looks until nothing speaks against it, for what no line of a log tells: what
// another process would answer now.
func (e e2e) eventually(look func() (against string)) {
	e.Helper()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 80*time.Millisecond) {
		against := look()
		switch {
		case against == "":
			return
		case e.ctx.Err() != nil:
			e.Fatal(against)
		}
		time.Sleep(pause) // it can only be looked at again
	}
}

// record waits for a record after since for which is returns true. Whoever has an answer by HTTP
// is ahead of the reader of the node's log.
func (e e2e) record(what string, since time.Time, is func(trace.Record) bool) (found trace.Record) {
	e.Helper()
	e.eventually(func() string {
		rec, ok := e.recorded(since, is)
		if found = rec; !ok {
			return "no record of " + what
		}
		return ""
	})
	return found
}

// recorded is the first record so far, after since, for which is returns true.
func (e e2e) recorded(since time.Time, is func(trace.Record) bool) (trace.Record, bool) {
	for _, rec := range e.Records() {
		if rec.Time.After(since) && is(rec) {
			return rec, true
		}
	}
	return trace.Record{}, false
}

func each(t *testing.T, entries []catalog.Entry, test func(*testing.T, catalog.Entry)) {
	for _, entry := range entries {
		t.Run(entry.Name, func(t *testing.T) { test(t, entry) })
	}
}

// alone are the algorithms that lead without voters.
func alone() (entries []catalog.Entry) {
	for _, entry := range catalog.All() {
		if !entry.NeedsVoters() {
			entries = append(entries, entry)
		}
	}
	return entries
}

// entriesOf are the algorithms of these names. Where how nodes elect makes no difference to
// what is tested, one that asks all and one that goes round stand for all: these are
// held to each other by the conformance suite.
func entriesOf(names ...string) (entries []catalog.Entry) {
	for _, entry := range catalog.All() {
		if slices.Contains(names, entry.Name) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// some are those of the entries that have these names, and in the twin of a test the others.
func some(t *testing.T, entries []catalog.Entry, names ...string) []catalog.Entry {
	return slices.DeleteFunc(entries, func(e catalog.Entry) bool {
		return slices.Contains(names, e.Name) == long.Test(t)
	})
}

// Promise: real processes "find each other by gossip", name the same leader,
// and when it is killed the next one; the killed one comes back: with
// pre-emption it leads again, without it follows.
func TestKillTheLeader(t *testing.T) {
	t.Parallel()
	each(t, some(t, alone(), "bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, calmly(entry)...)
		e.check(e.StartAll())
		first := e.agreed()
		if entry.Preempt {
			first = e.leads(3)
		}
		_, err := e.Kill(first.Leader)
		e.check(err)
		living := without(first.Leader, 1, 2, 3)
		next := e.agreed(living...)
		if next.Term <= first.Term {
			t.Errorf("the next leader's term %d is not above %d", next.Term, first.Term)
		}
		e.check(e.Start(first.Leader))
		if entry.Preempt {
			e.leads(3)
		} else if now := e.leads(next.Leader); now.Term != next.Term {
			t.Errorf("the living leader lost term %d to term %d", next.Term, now.Term)
		}
	})
}

func TestLongKillTheLeader(t *testing.T) { TestKillTheLeader(t) }

func without(gone proto.NodeID, ids ...proto.NodeID) []proto.NodeID {
	var rest []proto.NodeID
	for _, id := range ids {
		if id != gone {
			rest = append(rest, id)
		}
	}
	return rest
}

// Promise: a higher term is durable: a cluster that lost all its processes at
// once goes on above the terms it had.
func TestTermsSurvive(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 2)
		e.check(e.StartAll())
		before := e.agreed()
		for _, n := range e.Nodes() {
			_, err := e.Kill(n.ID)
			e.check(err)
		}
		e.check(e.StartAll())
		if after := e.agreed(); after.Term <= before.Term {
			t.Errorf("term %d after the restart, %d before", after.Term, before.Term)
		}
	})
}

// Promise: "SIGTERM and SIGINT resign, leave and exit 0": the leader hands
// over, and the others need no detector to know that it is gone.
func TestTerminateHandsOver(t *testing.T) {
	t.Parallel()
	each(t, some(t, alone(), "bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, calmly(entry)...)
		e.check(e.StartAll())
		first := e.agreed()
		if entry.Preempt {
			first = e.leads(3)
		}
		told := e.leaves(first.Leader)
		next := e.agreed(without(first.Leader, 1, 2, 3)...)
		handed := e.record("leadership being handed over", told, func(r trace.Record) bool {
			return r.LeaderChange == trace.Transferred
		})
		if handed.Leader != uint64(next.Leader) {
			t.Errorf("leadership was handed to node %v, not to node %v", handed.Leader, next.Leader)
		}
		left := e.record("the leader having left", told, func(r trace.Record) bool {
			return strings.Contains(r.Evidence, "left "+first.Leader.String())
		})
		if strings.Contains(left.Evidence, "gossip-dead") {
			t.Errorf("node %v left, and its record says %+v", first.Leader, left)
		}
	})
}

func TestLongTerminateHandsOver(t *testing.T) { TestTerminateHandsOver(t) }

// Promise: a second signal ends the process at once, with 128 + its number. A
// leader whose only follower hangs would wait a moment for it to take over.
func TestSecondSignal(t *testing.T) {
	e := newE2E(t, "bully", 2)
	e.check(e.StartAll())
	e.leads(2)
	e.check(e.Pause(1))
	e.check(e.Terminate(2))
	e.logs(2, `"event":"resign"`)
	e.check(e.Terminate(2))
	e.exits(2, 128+int(syscall.SIGTERM))
	e.check(e.Resume(1))
	e.leads(1, 1)
}

// Promise: a node that was told to stop is gone in time even when nobody
// answers it.
func TestTerminateAmongTheHung(t *testing.T) {
	e := newE2E(t, "bully", 2)
	e.check(e.StartAll())
	e.leads(2)
	e.check(e.Pause(1))
	e.leaves(2)
}

// leaves tells a node to stop, and checks that it is gone in time: by its last words, for a
// busy machine may take seconds to end a process.
func (e e2e) leaves(id proto.NodeID) (told time.Time) {
	e.Helper()
	told = time.Now()
	e.check(e.Terminate(id))
	e.exits(id, exitOK)
	for line := range strings.Lines(e.Log(id)) {
		var said struct {
			Time    time.Time
			Message string
		}
		if json.Unmarshal([]byte(line), &said) != nil || said.Message != "the node resigned and left" {
			continue
		}
		if took := said.Time.Sub(told); took > 5*time.Second {
			e.Errorf("it took %v to leave", took)
		}
		return told
	}
	e.Error("it did not say that it left")
	return told
}

// Promise: "two leaders that meet after a partition become one". A leader that
// hung and was replaced is the simplest of them.
func TestHungLeaderComesBack(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, calmly(entry)...)
		e.check(e.StartAll())
		first := e.agreed()
		if entry.Preempt {
			first = e.leads(3)
		}
		e.check(e.Pause(first.Leader))
		next := e.agreed(without(first.Leader, 1, 2, 3)...)
		e.check(e.Resume(first.Leader))
		if entry.Preempt {
			e.leads(3)
		} else {
			e.leads(next.Leader)
		}
	})
}

// Promise: "a taken id refused with a clear error and its own exit code on the
// newcomer"; the others do not notice.
func TestTakenID(t *testing.T) {
	e := newE2E(t, "bully", 3, calm...)
	e.check(e.Start(1))
	e.check(e.Start(2))
	before := e.leads(2, 1, 2)
	e.check(e.Start(3, "--id", "1"))
	e.exits(3, exitConflict)
	e.logs(3, "node id is taken")
	if after := e.agreed(1, 2); after != before {
		t.Errorf("%+v lead, it was %+v before the newcomer", after, before)
	}
}

// Promise: "a node of another cluster label or another algorithm joining"
// is "refused or flagged, loudly, on both sides".
func TestStrangers(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string][2]string{
		"cluster": {"--cluster", "other"}, "algorithm": {"--algorithm", "ring"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newE2E(t, "bully", 3, calm...)
			e.check(e.Start(1))
			e.check(e.Start(2))
			before := e.leads(2, 1, 2)
			e.check(e.Start(3, flag[:]...))
			for _, id := range []proto.NodeID{1, 2} {
				e.logs(id, `refused node \"3\"`)
			}
			e.logs(3, "refused node ")
			e.leads(3, 3)
			if after := e.agreed(1, 2); after != before {
				t.Errorf("%+v lead, it was %+v before the stranger", after, before)
			}
		})
	}
}

// Promise: with "a join target that never answers" a node "keeps trying, says
// so, stays useful alone".
func TestAlone(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "ring"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 2)
		e.check(e.Start(1))
		e.leads(1, 1)
		e.logs(1, "cannot join through "+e.Node(2).Gossip)
		e.check(e.Start(2))
		e.agreed()
	})
}

// Promise: rank is by attribute, then id.
func TestRankByNumber(t *testing.T) {
	e := newE2E(t, "bully", 3)
	e.check(e.Start(1, "--rank-by", "number:30"))
	e.check(e.Start(2, "--rank-by", "number:30"))
	e.check(e.Start(3, "--rank-by", "number:-5"))
	e.leads(2)
}
