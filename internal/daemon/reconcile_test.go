package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// hooked is a daemon with nothing but a reconcile command.
func hooked(command string, timeout time.Duration) *Daemon {
	return &Daemon{
		log: zerolog.Nop(),
		Settings: Settings{
			ID: 3, Cluster: "demo", ReconcileCmd: command, ReconcileTimeout: timeout,
		},
	}
}

var twoLed = algorithms.Split{
	Number: 1, Overlap: 1500 * time.Millisecond,
	Leaderships: []algorithms.Leadership{
		{Leadership: proto.Leadership{Term: 1, Leader: 5}, Led: 2 * time.Second},
		{Leadership: proto.Leadership{Term: 2, Leader: 3}, Led: 1500 * time.Millisecond},
	},
}

// Promise: the command is told who led, in which terms, and for how long at once.
func TestReconcileIsTold(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	d := hooked("env | grep ^RINGLEADER_ > "+seen, time.Minute)
	if o := d.reconcile(t.Context(), twoLed); !o.OK() && o.Problem != "" || o.Tries != 1 {
		t.Fatalf("%+v", o)
	}
	said, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"RINGLEADER_ID=3", "RINGLEADER_CLUSTER=demo", "RINGLEADER_SPLIT=1",
		"RINGLEADER_SPLIT_LEADERS=5 3", "RINGLEADER_SPLIT_TERMS=1 2",
		"RINGLEADER_SPLIT_LED_MS=2000 1500", "RINGLEADER_SPLIT_OVERLAP_MS=1500", "RINGLEADER_MEMBERS=[]",
	} {
		if !strings.Contains(string(said), want+"\n") {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

// Promise: a command that fails, hangs, or does not exist is tried again, and its end
// is reported with the exit code; what hangs is killed with all that it started.
func TestReconcileFails(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	for _, c := range []struct {
		command string
		timeout time.Duration
		exit    int
		problem string
	}{
		{"exit 7", time.Minute, 7, "exit status 7"},
		{"no-such-command", time.Minute, 127, "exit status 127"},
		{"kill -9 $$", time.Minute, -1, "signal: killed"},
		{"sleep 600 & echo $! > " + pid + "; wait", 300 * time.Millisecond, -1, "did not end within 300ms"},
	} {
		o := hooked(c.command, c.timeout).reconcile(t.Context(), twoLed)
		if o.Tries != reconcileTries || o.Exit != c.exit || !strings.Contains(o.Problem, c.problem) {
			t.Errorf("%s: %+v", c.command, o)
		}
	}
	said, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); syscall.Kill(child, 0) == nil && time.Since(began) < time.Minute; {
		if state, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); strings.Contains(string(state), ") Z") {
			return // dead, and nobody reaped it yet
		}
		time.Sleep(time.Millisecond) // another process: it can only be looked at again
	}
	if syscall.Kill(child, 0) == nil {
		t.Error("what the command started lives on")
	}
}

// Promise: when another node takes the recovery over, the command is killed.
func TestReconcileIsTakenOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	began := filepath.Join(t.TempDir(), "began")
	d := hooked("touch "+began+"; sleep 600", time.Hour)
	over := make(chan algorithms.Outcome)
	go func() { over <- d.reconcile(ctx, twoLed) }()
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
		time.Sleep(time.Millisecond) // another process: it can only be looked at again
	}
	cancel()
	if o := <-over; o.Tries != 1 || o.Problem == "" {
		t.Errorf("%+v", o)
	}
}

// Promise: what a command says is kept to a bound.
func TestReconcileSaysTooMuch(t *testing.T) {
	d := hooked("yes | head -c 1000000", time.Minute)
	said, err := d.runReconcile(t.Context(), twoLed)
	if err != nil || len(said) > maxHookOutput || len(said) < maxHookOutput/2 {
		t.Errorf("%d bytes, %v", len(said), err)
	}
}
