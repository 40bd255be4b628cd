package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const demoNodes = 4

// runningDemo is a demo whose nodes are all started.
type runningDemo struct {
	*exec.Cmd
	dir    string // for its temporary files
	stdout io.Closer
	lines  *bufio.Scanner
	stderr bytes.Buffer
	pids   []int // of its nodes
	*testing.T
}

func startDemo(t *testing.T) *runningDemo {
	t.Helper()
	d := &runningDemo{T: t, dir: t.TempDir(), Cmd: exec.CommandContext(
		t.Context(), "ringleader", "demo", "--nodes", strconv.Itoa(demoNodes),
	)}
	d.Env = append(os.Environ(), "TMPDIR="+d.dir)
	catchIgnored()
	d.Stderr = &d.stderr
	stdout, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	d.stdout, d.lines = stdout, bufio.NewScanner(stdout)
	for len(d.pids) < demoNodes && d.lines.Scan() {
		words := strings.Fields(d.lines.Text()) // node 1 pid 4711 gossip …
		if len(words) > 3 && words[2] == "pid" {
			pid, err := strconv.Atoi(words[3])
			if err != nil {
				t.Fatal(err)
			}
			d.pids = append(d.pids, pid)
		}
	}
	if len(d.pids) != demoNodes {
		t.Fatalf("%d nodes were started, want %d: %s", len(d.pids), demoNodes, d.stderr.String())
	}
	return d
}

// catchIgnored has commands start with no signal ignored, even if these tests run under
// nohup or in the background of a shell: a command inherits what is ignored, not what is
// caught. What is caught here is dropped, so these tests go on as before.
func catchIgnored() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// ends waits for the end and checks that nothing is left.
func (d *runningDemo) ends(code int) {
	d.Helper()
	for d.lines.Scan() { // to its end, or Wait would cut it short
	}
	err := d.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != code {
		d.Errorf("ended with %v, want exit code %d", err, code)
	}
	for _, pid := range d.pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			d.Errorf("the node with pid %d is still there: %v", pid, err)
		}
	}
	if left, err := os.ReadDir(d.dir); err != nil || len(left) > 0 {
		d.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

// Promise: the demo "leaves no process behind (Ctrl-C included)", whichever
// signal ends it, and ends with 128 + its number.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		says   string
	}{
		{syscall.SIGINT, "interrupted"},
		{syscall.SIGTERM, "ended by a signal (terminated)"},
		{syscall.SIGHUP, "ended by a signal (hangup)"},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			d := startDemo(t)
			// As a connection to a node that ends brings it: that ends nothing.
			for range 3 {
				if err := d.Process.Signal(syscall.SIGPIPE); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			d.ends(128 + int(c.signal))
			if want := "ringleader: " + c.says + "; all nodes are ended\n"; d.stderr.String() != want {
				t.Errorf("stderr %q, want %q", d.stderr.String(), want)
			}
		})
	}
}

// Promise: a reader that goes away ends the demo as SIGPIPE does.
func TestDemoUnread(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	if err := d.stdout.Close(); err != nil {
		t.Fatal(err)
	}
	d.ends(128 + int(syscall.SIGPIPE))
}

// Promise: a failure is told in one plain sentence that names who failed.
func TestDemoFails(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	if err := syscall.Kill(d.pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.ends(exitError)
	told := d.stderr.String()
	if strings.Count(told, "\n") != 1 || strings.ContainsAny(told, "{}") ||
		!strings.Contains(told, "node 1, exit code 137: the node ended by itself; its last words: ") {
		t.Errorf("stderr %q", told)
	}
}
