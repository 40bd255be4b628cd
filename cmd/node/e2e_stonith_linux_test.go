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
	"github.com/ringleader-dev/ringleader/internal/fenceagent"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// armed is a cluster of three voters with pid files and a fence agent, a script
// whose every run is in a log; what it does is the test's. $PIDFILE in it stands
// for the agent that kills by pid file.
type armed struct {
	e2e
	dir string
}

// killed is how a shell tells of a process that SIGKILL ended.
const killed = 137

// newArmed starts such a cluster. A nominee that is late to renew gives the agent up, which needs a
// moment to start: the nodes are calm.
func newArmed(t *testing.T, algorithm, script string, args ...string) armed {
	t.Helper()
	dir := t.TempDir()
	a := armed{dir: dir}
	agent := a.script(t, "agent", script)
	a.e2e = newE2E(t, algorithm, 3, slices.Concat(calm, []string{
		"--voters", "1-3", "--pid-file", filepath.Join(dir, "{id}.pid"), "--fence-agent", agent,
	}, args)...)
	a.check(a.StartAll())
	return a
}

// script writes an executable shell script.
func (a armed) script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(a.dir, name)
	head := fmt.Sprintf("#!/bin/sh\ncd %s\necho $RINGLEADER_FENCE_BY $RINGLEADER_FENCE_ACTION "+
		"$RINGLEADER_FENCE_ID >> runs\nPIDFILE='ringleader fence-agent pidfile --file %s/{id}.pid'\n",
		a.dir, a.dir)
	if err := os.WriteFile(path+".new", []byte(head+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// runs are the runs of the agent: who had whom shot.
func (a armed) runs() []string {
	text, _ := os.ReadFile(filepath.Join(a.dir, "runs"))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// runsStill reports whether node id's process, as its pid file names it, runs.
func (a armed) runsStill(id proto.NodeID) bool {
	a.Helper()
	p, err := fenceagent.ReadPIDFile(filepath.Join(a.dir, id.String()+".pid"))
	a.check(err)
	target := fenceagent.Target{ID: id, Incarnation: p.Incarnation}
	text, err := fenceagent.PIDFile(a.Context(), filepath.Join(a.dir, id.String()+".pid"), fenceagent.Status, target)
	a.check(err)
	return strings.Contains(text, "runs as process")
}

// attempts are the records of the agent's runs on node id.
func (a armed) attempts(id proto.NodeID) (all []trace.Record) {
	for _, r := range a.Records() {
		if r.Node == uint64(id) && r.Event == "fenced" {
			all = append(all, r)
		}
	}
	return all
}

// attempted waits until an attempt of any node ended with the text.
func (a armed) attempted(text string) {
	a.Helper()
	err := a.Wait(a.ctx, func() bool {
		for _, n := range a.Nodes() {
			if slices.ContainsFunc(a.attempts(n.ID), func(r trace.Record) bool {
				return strings.Contains(r.Detail, text)
			}) {
				return true
			}
		}
		return false
	})
	if err != nil {
		a.Fatalf("no attempt ended with %q: %v", text, err)
	}
}

// "Run by the nominee before it leads whenever the former leader was not
// seen to stop": a leader that hangs is killed, and only then replaced.
func TestFenceAgentShootsTheSilent(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "chubby", "ring"), func(t *testing.T, entry catalog.Entry) {
		// What the kernel shows of the death must not be quicker than the agent.
		a := newArmed(t, entry.Name, "exec $PIDFILE", "--await-leases")
		first := a.agreed()
		a.check(a.Pause(first.Leader))
		a.exits(first.Leader, killed)
		next := a.agreed(without(first.Leader, 1, 2, 3)...)
		took, attempts := a.beganToLead(next.Leader, next.Term), a.attempts(next.Leader)
		if len(attempts) == 0 || attempts[0].Time.After(took.Time) ||
			!strings.Contains(attempts[0].Detail, "attempt 1: exit 0 after ") ||
			!strings.Contains(attempts[0].Detail, "killed process") {
			t.Errorf("began to lead at %v; attempts %+v", took.Time, attempts)
		}
		want := fmt.Sprintf("%v off %v", next.Leader, first.Leader)
		if runs := a.runs(); !slices.Equal(runs, []string{want}) {
			t.Errorf("runs %q, want %q", runs, want)
		}
	})
}

// "Not a RELEASE, not proven dead": whoever was seen to stop is not shot, and
// costs no time.
func TestFenceAgentLeavesTheDeadAlone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(armed, proto.NodeID) error{
		"terminated": func(a armed, leader proto.NodeID) error { return a.Terminate(leader) },
		"killed": func(a armed, leader proto.NodeID) error {
			_, err := a.Kill(leader)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArmed(t, "bully", "exec $PIDFILE", "--lease", "10m")
			leader := a.agreed().Leader // for ten minutes, whoever was the first to be granted it
			a.check(end(a, leader))
			a.agreed(without(leader, 1, 2, 3)...)
			if _, err := os.Stat(filepath.Join(a.dir, "runs")); !os.IsNotExist(err) {
				t.Errorf("%v; runs %q", err, a.runs())
			}
		})
	}
}

// "A failing agent is retried, and nobody leads"; each attempt is
// recorded. Once it works, the nominee leads.
func TestFenceAgentThatFails(t *testing.T) {
	a := newArmed(t, "bully", "echo no power switch; exit 3")
	a.leads(3)
	a.check(a.Pause(3))
	a.attempted("attempt 3: exit 3 after ")
	a.attempted(": no power switch")
	if b := a.leads(0, 1, 2); b.Leader != 0 || !a.runsStill(3) {
		t.Errorf("%v leads", b.Leader)
	}
	who := proto.NodeID(2)
	if len(a.attempts(2)) == 0 {
		who = 1
	}
	a.status(who, func(s httpapi.Status) bool { return strings.Contains(s.Reason, ": no power switch") })
	a.says(3, asked{3 - who}, ": no power switch")
	a.script(t, "agent", "exec $PIDFILE")
	a.exits(3, killed)
	a.agreed(1, 2)
}

// An agent that hangs is killed after its time limit, and confirms nothing. The limit is
// one within which the agent that works starts on a busy machine.
func TestFenceAgentThatHangs(t *testing.T) {
	a := newArmed(t, "bully", "sleep 600", "--fence-timeout", "4s")
	a.leads(3)
	a.check(a.Pause(3))
	a.attempted("killed after its time limit of 4s")
	a.leads(0, 1, 2)
	a.script(t, "agent", "exec $PIDFILE")
	a.exits(3, killed)
	a.agreed(1, 2)
}

// An agent that outlasts the lease: the nominee renews, and waits for it.
func TestFenceAgentSlowerThanTheLease(t *testing.T) {
	a := newArmed(t, "bully", "sleep 6; exec $PIDFILE") // the lease is for less than four seconds
	a.leads(3)
	a.check(a.Pause(3))
	a.exits(3, killed)
	a.agreed(1, 2)
	if len(a.runs()) != 1 {
		t.Errorf("runs of the agent: %q", a.runs())
	}
}

// "A lying agent is covered by lease and majority all the same": the old leader
// wakes up to a lease that has ended, and never leads after it.
func TestFenceAgentThatLies(t *testing.T) {
	a := newArmed(t, "bully", "echo done; exit 0")
	a.leads(3)
	a.check(a.Pause(3))
	next := a.agreed(1, 2)
	if !a.runsStill(3) {
		t.Error("the agent did not lie")
	}
	took, end := a.beganToLead(next.Leader, next.Term), a.leaseEnd(3)
	if took.Time.Before(end) {
		t.Errorf("replaced at %v, while its lease ran to %v", took.Time, end)
	}
	a.check(a.Resume(3))
	a.agreed()
	a.ledNoLonger(3, end, took.Term)
}

// The former leader turns up and releases its term while the agent is at it:
// the agent is called back, and nobody is shot.
func TestFenceAgentIsCalledBack(t *testing.T) {
	a := newArmed(t, "bully", "sleep 600; exec $PIDFILE", "--fence-timeout", "5m")
	a.leads(3)
	a.check(a.Pause(3))
	err := a.Wait(a.ctx, func() bool { return strings.HasSuffix(a.runs()[0], " off 3") })
	a.check(err)
	a.check(a.Resume(3))
	if b := a.agreed(); b.Term < 2 || !a.runsStill(3) {
		t.Errorf("%v leads term %d, node 3 runs: %v", b.Leader, b.Term, a.runsStill(3))
	}
	a.record("the agent being called back", time.Time{}, func(r trace.Record) bool {
		return slices.Contains(r.Why, "3 was seen to stop -> call the fence agent back")
	})
}

// The nominee dies half-way: whoever comes next knows whom to fence from the
// other voters' disks, even when all of them start again.
func TestFenceAgentOfANomineeThatDies(t *testing.T) {
	a := newArmed(t, "bully", "exec sleep 600", "--fence-timeout", "5m") // dies with its node
	a.leads(3)
	a.check(a.Pause(3))
	a.check(a.Wait(a.ctx, func() bool { return strings.HasSuffix(a.runs()[0], " off 3") }))
	for _, id := range []proto.NodeID{1, 2} {
		_, err := a.Kill(id)
		a.check(err)
	}
	a.script(t, "agent", "exec $PIDFILE")
	a.check(a.Start(1))
	a.check(a.Start(2))
	a.exits(3, killed)
	a.agreed(1, 2)
}

// Nodes of which one has no agent do not elect together: it would not fence.
func TestFenceAgentsThatDiffer(t *testing.T) {
	e := newE2E(t, "bully", 2, "--voters", "1-2")
	e.check(e.Start(1))
	e.check(e.Start(2, "--fence-agent", "/bin/true"))
	for _, id := range []proto.NodeID{1, 2} {
		e.logs(id, `node 2 runs \"nomination with leases of 1s, a fence agent\"`)
	}
}
