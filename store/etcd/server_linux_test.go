package etcd

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// ttl is the shortest that etcd keeps.
const ttl = 2 * time.Second

// patience bounds what the tests wait for.
const patience = time.Minute

// server is an etcd of one test alone.
type server struct {
	addr string
	args []string
	cmd  *exec.Cmd
	log  *output
}

// output is what a process prints; its test may read it in the meantime.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program finds a program of etcd, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	needs.Here(t, "elections in etcd", err)
	return path
}

// start starts a server with more arguments.
func start(t *testing.T, more ...string) *server {
	t.Helper()
	path := program(t, "etcd")
	s := &server{addr: freeAddr(t)}
	peers := "http://" + freeAddr(t)
	s.args = append([]string{
		path, "--data-dir", filepath.Join(t.TempDir(), "data"), "--logger", "zap", "--log-level", "error",
		"--listen-client-urls", "http://" + s.addr, "--advertise-client-urls", "http://" + s.addr,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers,
	}, more...)
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("etcd: %s", s.log)
		}
	})
	s.run(t)
	return s
}

// freeAddr returns an address that nobody listens at.
func freeAddr(t *testing.T) string { return "127.0.0.1:" + storetest.FreePort(t) }

// command makes a command that ends with this process.
func command(args ...string) (*exec.Cmd, *output) {
	cmd, log := exec.Command(args[0], args[1:]...), &output{}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, log
}

// run starts the process, and waits until it answers.
func (s *server) run(t *testing.T) {
	t.Helper()
	s.cmd, s.log = command(s.args...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.addr}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err = client.Get(ctx, "any"); err == nil {
			return
		}
		if strings.Contains(err.Error(), "user name is empty") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("etcd does not answer: %v\n%s", err, s.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if sig == syscall.SIGSTOP {
		storetest.Stopped(t, s.cmd.Process.Pid)
	}
}

// ctl runs etcdctl.
func (s *server) ctl(t *testing.T, args ...string) string {
	t.Helper()
	cmd, log := s.ctlCommand(t, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("etcdctl %q: %v\n%s", args, err, log)
	}
	return log.String()
}

func (s *server) ctlCommand(t *testing.T, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	cmd, log := command(append([]string{program(t, "etcdctl"), "--endpoints", s.addr}, args...)...)
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3")
	return cmd, log
}

// elections counts the elections of this process of tests, so that each has a prefix of its own.
var elections struct {
	sync.Mutex
	n int
}

// election returns an election that nobody has used before.
func (s *server) election(t *testing.T) store.Store {
	t.Helper()
	elections.Lock()
	elections.n++
	prefix := fmt.Sprintf("/test/%d", elections.n)
	elections.Unlock()
	return s.named(t, prefix)
}

// named returns the election of that prefix.
func (s *server) named(t *testing.T, prefix string) store.Store {
	t.Helper()
	e, err := New(Config{Servers: []string{s.addr}, Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
