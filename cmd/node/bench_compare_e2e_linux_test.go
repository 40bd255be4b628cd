package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// Promise: "the same cluster of real processes, the same seeded fault script, every
// algorithm, with and without voters: detect, elect, announce, time without a
// leader, time with two, messages and bytes a round, stale writes a fenced store
// refused".
func TestCompare(t *testing.T) {
	algorithm := "bully"
	if long.Test(t) {
		algorithm = "tokenring"
	}
	run, dir, stdout, stderr := startCommand(t, "bench", "compare", "--algorithm", algorithm, "--nodes", "3",
		"--script", "kill,pause", "--profile", "local", "--seed", "7", "-o", "json")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr, stdout)
	}
	var r compare.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if done, of := r.Count(); r.Partial || done != 4 || of != 4 || len(r.Rows) != 2 {
		t.Fatalf("%d of %d: %s", done, of, stdout)
	}
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			where := row.Algorithm + ", " + string(row.Votes) + ", " + string(s.Step)
			if s.Failed != "" || s.Messages < 1 || s.Bytes < 30*s.Messages || s.Nobody <= 0 || s.Terms < 1 {
				t.Errorf("%s: %+v", where, s)
			}
			// Best-effort, a leader that hangs still believes that it leads; voters
			// have one at a time, and what it had begun to write is refused.
			hung := s.Step == compare.Pause
			if row.Votes == compare.Nobody && (s.Refused != nil || hung && s.Two == 0) {
				t.Errorf("%s: %+v", where, s)
			}
			if row.Votes == compare.All &&
				(s.Refused == nil || hung && *s.Refused == 0 || s.Two > 0 || s.Accepted > 0) {
				t.Errorf("%s: %+v", where, s)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s", stdout) // what was refused stands there
	}
	nothingLeft(t, dir)
}

func TestLongCompare(t *testing.T) { TestCompare(t) }

// Promise: an algorithm on a store is a line of the table: one leads at a time, and what a leader that hung had begun
// to write is refused by its token.
func TestCompareOnRedis(t *testing.T) {
	needsServer(t, "redis")
	run, dir, stdout, stderr := startCommand(t, "bench", "compare", "--algorithm", "bully", "--nodes", "3",
		"--voters", "none", "--stores", "redis", "--lease", "2s", "--script", "pause", "--profile", "local",
		"--seed", "7", "-o", "json")
	if err := run.Wait(); err != nil {
		t.Fatalf("%v: %s\n%s", err, stderr, stdout)
	}
	var r compare.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[1].Store != "redis" || r.Rows[1].Guarantee != "lease-until-failover" {
		t.Fatalf("printed %s", stdout)
	}
	s := r.Rows[1].Samples[0]
	if s.Failed != "" || s.Two > 0 || s.Terms < 1 || s.Refused == nil || *s.Refused == 0 || s.Accepted > 0 {
		t.Errorf("%+v", s)
	}
	nothingLeft(t, dir)
}

// Promise: "`bench compare` interrupted half-way (partial table, marked so, no processes
// left)", nor namespaces or files.
func TestCompareInterrupted(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			script, networks := "kill,kill,kill", 0
			if needs.Has(t, "namespaces that are left", testcluster.MayCut(3)) {
				script, networks = "cut,cut,cut", 3
			}
			run, dir, stdout, stderr := startCommand(t, "bench", "compare", "--algorithm", "broadcast", "--nodes", "3",
				"--script", script, "--profile", "local", "--seed", "7")
			seen := map[string]bool{}
			var namespaces []string
			eventuallyTrue(t, func() bool { // the second step is under way
				clusters, err := filepath.Glob(filepath.Join(dir, "ringleader-compare-*", "cluster-*"))
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range clusters {
					seen[c] = true
				}
				namespaces = namespacesOf(t, nodesOf(t, dir))
				return len(seen) > 1 && len(namespaces) == networks
			})
			if err := run.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err := run.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitInterrupted {
				t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
			}
			if want := "ringleader: interrupted; all processes are ended\n"; stderr.String() != want {
				t.Errorf("stderr %q, want %q", stderr, want)
			}
			for _, want := range []string{"PARTIAL: ended after 1 of 6 steps", "not done"} {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in\n%s", want, stdout)
				}
			}
			nothingLeft(t, dir)
			for _, n := range namespaces {
				if _, err := os.Stat(n); err == nil {
					t.Errorf("%s is left", n)
				}
			}
		})
	}
}

// namespacesOf are the named network namespaces that processes are in.
func namespacesOf(t *testing.T, pids []string) (names []string) {
	t.Helper()
	all, err := filepath.Glob("/run/netns/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		named, err := os.Stat(name)
		if err != nil {
			continue // of another test, and gone
		}
		for _, pid := range pids {
			if own, err := os.Stat("/proc/" + pid + "/ns/net"); err == nil && os.SameFile(own, named) {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// nothingLeft checks that no process runs below dir, and no file is there.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left := nodesOf(t, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

// eventuallyTrue waits until a condition holds.
func eventuallyTrue(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.After(patience); !holds(); {
		select {
		case <-end:
			t.Fatal("it never came to that")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
