package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// startCommand runs `ringleader` on its own temporary directory.
func startCommand(t *testing.T, args ...string) (run *exec.Cmd, dir string, stdout, stderr *bytes.Buffer) {
	t.Helper()
	t.Parallel()
	dir, stdout, stderr = t.TempDir(), new(bytes.Buffer), new(bytes.Buffer)
	run = exec.CommandContext(t.Context(), "ringleader", args...)
	run.Env = append(os.Environ(), "TMPDIR="+dir)
	run.Stdout, run.Stderr = stdout, stderr
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	return run, dir, stdout, stderr
}

// nodesOf are the ids of the processes that were started below dir.
func nodesOf(t *testing.T, dir string) []string {
	t.Helper()
	processes, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, p := range processes {
		line, err := os.ReadFile("/proc/" + p.Name() + "/cmdline")
		if err == nil && bytes.Contains(line, []byte(dir)) {
			pids = append(pids, p.Name())
		}
	}
	return pids
}

// Promise: "Ctrl-C half-way: partial table marked as such, no process left,
// exit 130".
func TestBenchInterrupted(t *testing.T) {
	bench, dir, stdout, stderr := startCommand(t,
		"bench", "failover", "--nodes", "3", "--kills", "1000", "--profile", "local", "--signal", "TERM")
	// Each cluster has a directory, and the second comes after the first samples.
	clusters := make(map[string]bool)
	for end := time.After(patience); len(clusters) < 2; {
		seen, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range seen {
			clusters[d.Name()] = true
		}
		select {
		case <-end:
			t.Fatalf("no second cluster; stderr %s", stderr)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := bench.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := bench.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if want := "ringleader: interrupted; all processes are ended\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
	if !strings.Contains(stdout.String(), "PARTIAL: ended after ") {
		t.Errorf("the table is not marked:\n%s", stdout)
	}
	if left := nodesOf(t, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

// Promise: "cutting so that no RST or EOF appears", the namespaces deleted
// after, and the nodes agreed again when the network heals: two samples need
// that.
func TestBenchCut(t *testing.T) {
	needs.Here(t, "ringleader bench failover --signal CUT", testcluster.MayCut(3))
	bench, _, stdout, stderr := startCommand(t,
		"bench", "failover", "--nodes", "3", "--kills", "2", "--profile", "local", "--signal", "CUT")
	if err := bench.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if !strings.Contains(stdout.String(), "the leader's network is cut, 2 times") {
		t.Errorf("printed\n%s", stdout)
	}
}
