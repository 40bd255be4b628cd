package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// worker is a command for exec that two must not run of at the same time. In
// directory os.Args[1] it takes a lock, or notes a clash, and then writes a line
// every millisecond: its term, its node, and the time since boot. Its start is a line
// of another file. It obeys no
// signal that can be ignored. With "daemon" it leaves all of that to a grandchild in
// another incarnation that keeps no descriptor of its parents.
func worker() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	dir := os.Args[1]
	if len(os.Args) > 2 && os.Args[2] == "daemon" {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		workerNeeds(err)
		_, err = os.StartProcess("/proc/self/exe", []string{os.Args[0], dir}, &os.ProcAttr{
			Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		workerNeeds(err)
		for { // daemons that end are the business of package supervise
			time.Sleep(time.Hour) // until it is killed
		}
	}
	for fd := 3; fd < 1024; fd++ {
		syscall.CloseOnExec(fd)
		if target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil &&
			strings.HasPrefix(target, "socket:") {
			_ = syscall.Close(fd)
		}
	}
	lines, err := os.OpenFile(filepath.Join(dir, "lines"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	workerNeeds(err)
	lock, err := syscall.Open(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	workerNeeds(err) // no os.File: the collector of garbage would close it, and release the lock
	name := os.Getenv("RINGLEADER_TERM") + " " + os.Getenv("RINGLEADER_ID")
	if err := syscall.Flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		fmt.Fprintf(lines, "%s clash\n", name)
		os.Exit(1)
	}
	starts, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	workerNeeds(err)
	fmt.Fprintln(starts, name)
	for {
		fmt.Fprintf(lines, "%s %d\n", name, clock.SinceBoot(clock.Now()))
		time.Sleep(time.Millisecond) // how often it works: it waits for nothing
	}
}

func workerNeeds(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// stint is the work of one node in one term, from the first line to the last.
type stint struct {
	term, node  uint64
	first, last time.Duration // since boot
}

// stints are what workers in dir did, by term. A clash, or two at the same time, fail
// the test.
func stints(t *testing.T, dir string) (all []stint) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "lines"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		words := strings.Fields(line)
		term, _ := strconv.ParseUint(words[0], 10, 64)
		node, _ := strconv.ParseUint(words[1], 10, 64)
		at, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			t.Fatalf("term %d of node %d: %s", term, node, words[2])
		}
		if n := len(all); n == 0 || all[n-1].term != term || all[n-1].node != node {
			all = append(all, stint{term: term, node: node, first: time.Duration(at)})
		}
		last := &all[len(all)-1]
		last.last = time.Duration(at)
		if n := len(all); n > 1 && (all[n-2].last >= last.first || all[n-2].term >= term) {
			t.Fatalf("%+v is not after %+v", *last, all[n-2])
		}
	}
	return all
}
