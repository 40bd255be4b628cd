package testcluster

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

func newCluster(t *testing.T, nodes int, args ...string) *Cluster {
	t.Helper()
	c, err := fakeCluster(nodes, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return c
}

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Promise: WaitAgreed "waits until every node of ids believes in the same
// leader of the same term, and that leader is one of ids".
func TestWaitAgreed(t *testing.T) {
	c := newCluster(t, 3, "--leader", "2")
	must(t, c.StartAll())
	got, err := c.WaitAgreed(deadline(t, time.Minute))
	must(t, err)
	if want := (Belief{Leader: 2, Term: 7}); got != want {
		t.Errorf("agreed on %+v, want %+v", got, want)
	}

	_, err = c.WaitAgreed(deadline(t, 50*time.Millisecond), 1, 3)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("agreement on a leader outside the set: %v", err)
	}
	for _, want := range []string{"node 1 follows 2 in term 7", "node 3 follows 2"} {
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

// Promise: a node that ends by itself is told at once, with its last words.
func TestNodeEndsByItself(t *testing.T) {
	c := newCluster(t, 2, "--leader", "1")
	must(t, c.Start(1))
	must(t, c.Start(2, "--leader", "2", "--exit", "4"))
	_, err := c.WaitAgreed(deadline(t, time.Minute))
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "exit code 4") ||
		!strings.Contains(err.Error(), "the last words") {
		t.Errorf("got %v", err)
	}
}

// Promise: "Records are the records of every process so far, in causal order:
// by hybrid logical clock". The fake's clock runs against the ids.
func TestRecordsInCausalOrder(t *testing.T) {
	c := newCluster(t, 3)
	must(t, c.StartAll())
	must(t, c.Wait(deadline(t, time.Minute), func() bool { return len(c.Records()) == 3 }))
	var order []uint64
	for _, rec := range c.Records() {
		order = append(order, rec.Node)
	}
	if want := []uint64{3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if log := c.Log(1); !strings.Contains(log, "not a record") {
		t.Errorf("the log of node 1 lacks what is no record:\n%s", log)
	}
}

func TestKillAndStartAgain(t *testing.T) {
	c := newCluster(t, 1, "--leader", "1")
	ctx := deadline(t, time.Minute)
	must(t, c.Start(1))
	if err := c.Start(1); !errors.Is(err, ErrRunning) {
		t.Errorf("a second start: %v", err)
	}
	before, pid := time.Now(), c.PID(1)
	at, err := c.Kill(1)
	must(t, err)
	if at.Before(before) || at.After(time.Now()) {
		t.Errorf("killed at %v, called at %v", at, before)
	}
	if code, err := c.WaitExit(ctx, 1); code != 128+int(syscall.SIGKILL) || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if _, err := c.Kill(1); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a second kill: %v", err)
	}
	if got := c.Beliefs(1); len(got) != 0 {
		t.Errorf("a dead node believes %v", got)
	}
	must(t, c.Start(1))
	if _, err := c.WaitAgreed(ctx); err != nil {
		t.Error(err)
	}
	if c.PID(1) == pid {
		t.Errorf("the same process, pid %d", pid)
	}
	must(t, c.Terminate(1))
	if code, err := c.WaitExit(ctx, 1); code != 3 || err != nil {
		t.Errorf("terminate: exit code %d, %v", code, err)
	}
}

// Promise: Close "kills every process that is left", a paused one too, "and
// removes the data".
func TestCloseLeavesNothing(t *testing.T) {
	c := newCluster(t, 2)
	must(t, c.StartAll())
	pids := []int{c.PID(1), c.PID(2)}
	must(t, c.Pause(1))
	must(t, c.Close())
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("pid %d is still there: %v", pid, err)
		}
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", c.dir, err)
	}
	if err := c.Start(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("start after Close: %v", err)
	}
}

// Promise: Attach is "the command that starts it, copies what it writes and ends
// when it ends"; its end is no surprise when somebody else was to bring it about.
func TestAttach(t *testing.T) {
	must(t, os.Setenv(roleEnv, "node"))
	self, err := os.Executable()
	must(t, err)
	attach := func(args ...string) []string { return append([]string{self, "run"}, args...) }
	c, err := New(Config{Binary: "/nonexistent", Nodes: 2, Algorithm: "bully", Args: []string{"--last"}, Hosts: []Host{
		{IP: "10.0.0.1", Attach: attach("--id", "1", "--leader", "1")},
		{IP: "10.0.0.2", Attach: attach("--id", "2", "--leader", "1", "--exit", "3")},
	}})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	if args := c.Arguments(c.Node(2)); args[0] != "run" || args[len(args)-1] != "--last" ||
		!slices.Contains(args, "10.0.0.1:7946") {
		t.Errorf("the arguments of node 2: %q", args)
	}
	must(t, c.StartAll())
	c.ExpectEnd(2)
	ctx := deadline(t, time.Minute)
	if _, err := c.WaitAgreed(ctx, 1); err != nil {
		t.Error(err)
	}
	if code, err := c.WaitExit(ctx, 2); code != 3 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	must(t, c.Wait(ctx, func() bool { return len(c.Records()) == 2 }))
}

func TestUnknownNode(t *testing.T) {
	c := newCluster(t, 1)
	for _, id := range []proto.NodeID{0, 2, proto.MaxNodeID} {
		if err := c.Start(id); !errors.Is(err, ErrUnknownNode) {
			t.Errorf("start node %v: %v", id, err)
		}
	}
	if _, err := c.WaitExit(t.Context(), 1); !errors.Is(err, ErrNotRunning) {
		t.Errorf("wait for a node that never ran: %v", err)
	}
}

// Promise: HoldPorts "holds n distinct ports that nobody uses, neither over TCP nor
// over UDP, and that no other caller is given", although nothing listens on them;
// once they are released they may be given again.
func TestHoldPorts(t *testing.T) {
	const each = 60
	seen := make(map[string]bool)
	var all []*Ports
	for range 40 {
		p, err := HoldPorts(each)
		must(t, err)
		if len(p.Addrs) != each {
			t.Errorf("%d ports, want %d", len(p.Addrs), each)
		}
		all = append(all, p)
		for _, addr := range p.Addrs {
			if seen[addr] {
				t.Errorf("%s twice", addr)
			}
			seen[addr] = true
		}
	}
	for _, addr := range all[0].Addrs {
		tcp, err := net.Listen("tcp4", addr)
		must(t, err)
		must(t, tcp.Close())
		udp, err := net.ListenPacket("udp4", addr)
		must(t, err)
		must(t, udp.Close())
	}
	var locks []string
	for _, p := range all {
		for _, lock := range p.locks {
			locks = append(locks, lock.Addr().String())
		}
		p.Release()
	}
	for _, addr := range locks {
		lock, err := net.Listen("tcp4", addr)
		must(t, err)
		must(t, lock.Close())
	}
}

// Promise: the last words of a node are words, not its records.
func TestLastWords(t *testing.T) {
	const record = `{"level":"info","node":1,"seq":1,"hlc":"1.0","event":"start"}`
	for want, lines := range map[string][]string{
		"none":                nil,
		"up":                  {`{"message":"up"}`, record},
		"the node ended: a b": {`{"message":"up"}`, `{"message":"the node ended","error":"a\nb"}`},
		"panic: no":           {`{"message":"up"}`, "panic: no", "goroutine 1 [running]:"},
		"unknown flag":        {"unknown flag"},
	} {
		if got := (&output{lines: lines}).lastWords(); got != want {
			t.Errorf("%q: last words %q, want %q", lines, got, want)
		}
	}
}

// Promise: "IDs are the nodes' ids, ascending".
func TestIDs(t *testing.T) {
	ids := []proto.NodeID{3, 32, 80}
	c, err := New(Config{Nodes: len(ids), IDs: ids})
	must(t, err)
	defer func() { must(t, c.Close()) }()
	if got := c.IDs(); !slices.Equal(got, ids) {
		t.Errorf("ids %v, want %v", got, ids)
	}
	if n := c.Node(32); n.ID != 32 || n.HTTP != c.nodes[1].HTTP || c.Node(1).ID != 0 {
		t.Errorf("node 32 is %+v", n)
	}
}
