package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// aRedis is a server that ends with the test.
func aRedis(t *testing.T) *storeserver.Server {
	t.Helper()
	s, err := storeserver.Start(t.Context(), "redis")
	if errors.Is(err, storeserver.ErrMissing) {
		needs.Here(t, "a store of the kind redis", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Promise: a leader on a store that is killed is replaced, with a higher token, long before its lease ends; the logs
// tell which process was killed.
func TestStoreKillTheLeader(t *testing.T) {
	s := aRedis(t)
	// The lease is longer than this test may take, so nothing runs out.
	e := newE2E(t, "bully", 3, "--store", s.URL("jobs"), "--lease", "10m")
	e.check(e.StartAll())
	first := e.agreed() // whoever was up first: nobody takes over before the lease ends
	_, err := e.Kill(first.Leader)
	e.check(err)
	next := e.agreed(without(first.Leader, 1, 2, 3)...)
	if next.Term <= first.Term {
		t.Errorf("token %d after token %d", next.Term, first.Term)
	}
	dir := t.TempDir()
	e.check(e.SaveLogs(dir))
	code, out := runRingleader(t, "rounds", "show", strconv.FormatUint(uint64(next.Term), 10), dir)
	if code != exitOK || !strings.Contains(out, fmt.Sprintf("leader %v is gone", first.Leader)) ||
		!strings.Contains(out, fmt.Sprintf("dial-refused %v", first.Leader)) {
		t.Errorf("exit %d: %s", code, out)
	}
}

// "At rest, and one that leads is not harmed": a leader on a store keeps its token when all call an election at once.
func TestStoreElect(t *testing.T) {
	s := aRedis(t)
	e := newE2E(t, "bully", 3, "--store", s.URL("jobs"), "--lease", "10m")
	e.check(e.StartAll())
	first := e.agreed()
	said := e.elected(e.IDs()...)
	e.isBelief(said, first)
	if !strings.HasPrefix(said.Calls[0].Done, "no election: ") {
		t.Errorf("all called an election: %+v", said)
	}
	if b := e.agreed(); b != first {
		t.Errorf("the calls changed %+v to %+v", first, b)
	}
}

// Promise: "the command runs on one node only", moves when that is killed, and has the token of the store.
func TestStoreExec(t *testing.T) {
	s := aRedis(t)
	e := newExecE2E(t, 3, "--store", s.URL("jobs"), "--lease", "10m", "--preempt=false")
	before := e.works(0)
	killed := proto.NodeID(before[len(before)-1].node)
	e.eventually(func() string {
		environment, err := commandEnvironment(e.dir)
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(environment, "RINGLEADER_TOKEN=") {
			return "no token in the environment of the command"
		}
		return ""
	})
	_, err := e.Kill(killed)
	e.check(err)
	all := e.works(len(before)) // at no time two
	if last := all[len(all)-1]; proto.NodeID(last.node) == killed {
		t.Errorf("node %v was killed and works: %+v", killed, all)
	}
}

// commandEnvironment is the environment of the worker in dir, which has its lines open.
func commandEnvironment(dir string) (string, error) {
	open, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return "", err
	}
	for _, fd := range open {
		if target, err := os.Readlink(fd); err == nil && target == filepath.Join(dir, "lines") {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(fd)), "environ"))
			return string(text), err
		}
	}
	return "", errors.New("no worker has its lines open")
}

// Promise: "nobody removes a lent entry: the loan runs out first".
func TestStoreLentOutlivesItsLeader(t *testing.T) {
	s := aRedis(t)
	e := newE2E(t, "bully", 3, "--store", s.URL("jobs"), "--lease", "4s")
	e.check(e.StartAll())
	leader := e.leads(3).Leader
	b := e.borrows(leader)
	_, err := e.Kill(leader)
	e.check(err)
	next := e.agreed(1, 2)
	if led := e.beganToLead(next.Leader, next.Term); led.Time.Before(wall(b.until)) {
		t.Errorf("node %v leads at %v, before %v ends", next.Leader, led.Time, b)
	}
}

// Promise: the chosen node leads, also if the transfer has to wait for the end of a loan.
func TestStoreTransferWhileLent(t *testing.T) {
	s := aRedis(t)
	e := newE2E(t, "bully", 3, "--store", s.URL("jobs"), "--lease", "4s", "--preempt=false")
	e.check(e.Start(1))
	leader := e.leads(1, 1).Leader
	e.check(e.Start(2))
	e.check(e.Start(3))
	e.leads(1, 1, 2, 3)
	e.borrows(leader)
	if code, out := runRingleader(t, "transfer", "--to", "2", "--addr", e.Node(1).HTTP); code != exitOK ||
		!strings.Contains(out, "node 2 leads term") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Promise: of a store that does not answer, status says so, why-not names it, and /healthz stays up; nobody leads
// after the lease, until it answers again.
func TestStorePaused(t *testing.T) {
	s := aRedis(t)
	e := newE2E(t, "bully", 2, "--store", s.URL("jobs"), "--lease", "3s")
	e.check(e.StartAll())
	first := e.leads(2)
	e.check(syscall.Kill(s.PID(), syscall.SIGSTOP))
	e.leads(0)
	e.status(1, func(s httpapi.Status) bool {
		return s.Store != nil && s.Store.Failed != "" && !s.Store.Since.IsZero()
	})
	if code, out := runRingleader(t, "status", "--addr", e.Node(1).HTTP); !strings.Contains(out, "no answer since") {
		t.Errorf("exit %d: %s", code, out)
	}
	e.says(1, asked{1}, "the store redis://"+s.Address())
	if code, out := runRingleader(t, "health", "--addr", e.Node(1).HTTP); code != exitOK {
		t.Errorf("exit %d: %s", code, out)
	}
	e.check(syscall.Kill(s.PID(), syscall.SIGCONT))
	if next := e.agreed(); next.Leader == 0 || next.Term <= first.Term {
		t.Errorf("%+v leads after %+v", next, first)
	}
}

// Promise: nodes of one cluster that elect in different places of a store, or with another TTL, or by voters, name the
// setting that differs on both sides, and one of them leads at most.
func TestStoresThatDiffer(t *testing.T) {
	s := aRedis(t)
	for name, c := range map[string]struct {
		args          []string // of node 3
		setting, says string
	}{
		"place": {
			[]string{"--store", s.URL("other")},
			"the setting store differs", "from that of node 3: it is not redis place there",
		},
		"TTL": {
			[]string{"--store", s.URL("TTL"), "--lease", "8s"},
			"the setting lease differs", "from that of node 3: a TTL of 8s there, of 4s here",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newE2E(t, "bully", 3, "--store", s.URL(name), "--lease", "4s")
			e.check(e.Start(1))
			e.check(e.Start(2))
			e.leads(2, 1, 2)
			e.check(e.Start(3, c.args...))
			for id := proto.NodeID(1); id <= 3; id++ {
				odd := id == 3
				e.status(id, func(s httpapi.Status) bool {
					return len(s.Differ) > 0 && (s.Leader == 0) == odd && (s.Ineligible == "") != odd
				})
				_, out := runRingleader(t, "status", "--addr", e.Node(id).HTTP)
				if !strings.Contains(out, c.setting) || !odd && !strings.Contains(out, c.says) {
					t.Errorf("node %v: %s", id, out)
				}
			}
			e.says(2, asked{1, 3}, "Node 2 leads term", c.setting)
			e.says(3, asked{1, 3}, "Node 2 leads term", "Node 3 does not stand for election: "+c.setting)
			for _, r := range e.Records() {
				if r.Node == 3 && r.Role == trace.Leading {
					t.Errorf("node 3 led: %+v", r)
				}
			}
			e.ends(1)
			e.ends(2) // then nobody else is there
			e.leads(3, 3)
		})
	}
}

// ends stops a node.
func (e e2e) ends(id proto.NodeID) {
	e.Helper()
	e.check(e.Terminate(id))
	_, err := e.WaitExit(e.Context(), id)
	e.check(err)
}

// Promise: a node with voters, or with none, among nodes on a store, and they among it.
func TestStoreAndVoters(t *testing.T) {
	s := aRedis(t)
	e := newE2E(t, "bully", 3)
	e.check(e.Start(1, "--store", s.URL("mixed")))
	e.leads(1, 1)
	e.check(e.Start(2)) // without a store and voters
	for _, id := range []proto.NodeID{1, 2} {
		e.status(id, func(s httpapi.Status) bool { return len(s.Differ) > 0 && (s.Ineligible != "") == (id == 2) })
	}
	e.ends(2)
	e.check(e.Start(3, "--voters", "3"))
	e.leads(3, 3)
	for _, id := range []proto.NodeID{1, 3} {
		e.status(id, func(s httpapi.Status) bool {
			return len(s.Differ) > 0 && strings.Contains(s.Differ[0], "the setting store differs") &&
				(s.Leader == 0) == (id == 1) && (s.Ineligible != "") == (id == 1)
		})
	}
}

// Promise: a signal ends a node at once while it waits for a store that does not answer.
func TestStoreStartGivenUp(t *testing.T) {
	for verb, want := range map[string]int{"run": exitOK, "exec": 128 + int(syscall.SIGTERM)} {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs := threeAddresses(t)
		args := []string{
			verb, "--id", "1", "--store", "redis://" + silent.Addr().String() + "/k", "--data-dir", t.TempDir(),
			"--gossip-bind", addrs[0], "--election-bind", addrs[1], "--http-bind", addrs[2],
		}
		if verb == "exec" {
			args = append(args, "--", "true")
		}
		var said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "ringleader", args...)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		asked, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		took := time.Since(began)
		t.Logf("%s ends after %v", verb, took)
		if code := cmd.ProcessState.ExitCode(); code != want || took > time.Second ||
			!strings.Contains(said.String(), "told to stop before the node was up") {
			t.Errorf("%s ends with %d after %v, want %d at once: %s", verb, code, took, want, &said)
		}
		_ = asked.Close()
		_ = silent.Close()
	}
}
