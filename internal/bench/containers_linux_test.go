package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Promise: the death of a process is known as soon as the kernel tells of it,
// before anybody has collected it; an interrupt ends the wait.
func TestProcessDied(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe() // it ends with the test at the latest
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // says that it was killed
	told := errors.New("told to stop")
	interrupted, cancel := context.WithCancelCause(t.Context())
	cancel(told)
	p := opened(t, cmd.Process.Pid)
	if at, err := awaitDeath(interrupted, p); !errors.Is(err, told) || !at.IsZero() {
		t.Errorf("while it lives: died at %v, %v", at, err)
	}
	p = opened(t, cmd.Process.Pid)
	before := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if at, err := awaitDeath(ctx, p); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("killed at %v, died at %v, %v", before, at, err)
	}
}

func opened(t *testing.T, pid int) *os.Process {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() })
	return p
}

// An engine in a virtual machine, or at the other end of a tunnel, names
// processes that are none here, or others.
func TestProcessElsewhere(t *testing.T) {
	const nobody = 1 << 23 // above the highest pid that Linux gives
	for _, pid := range []int{nobody, os.Getpid()} {
		want := fmt.Sprintf("pid %d, which the engine says it is, does not run node 1 here", pid)
		bin := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $4\" = 'inspect x-n1' ] && echo %d\n", pid)
		if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		c := &containers{name: "x", nodes: 1, arguments: [][]string{{"run", "--id", "1"}}}
		_, err := c.process(1)
		if !errors.Is(err, ErrOptions) || !errors.Is(err, errElsewhere) || !strings.Contains(err.Error(), want) {
			t.Errorf("pid %d: %v, want %q", pid, err, want)
		}
	}
}

func TestTooManyContainers(t *testing.T) {
	err := mayDocker(251, "")
	if !errors.Is(err, ErrCapacity) || !strings.Contains(err.Error(), "251 containers on one network: at most 250") {
		t.Errorf("got %v", err)
	}
}

func TestRuns(t *testing.T) {
	arguments := []string{"run", "--id", "1"}
	for line, want := range map[string]bool{
		"/ringleader\x00run\x00--id\x001\x00":  true,
		"/ringleader\x00run\x00--id\x0011\x00": false,
		"/ringleader\x00rerun\x00--id\x001":    false,
		"":                                     false, // a zombie's
	} {
		if got := runs([]byte(line), arguments); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
