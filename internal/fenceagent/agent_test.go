package fenceagent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/fenceagent"
	"github.com/ringleader-dev/ringleader/proto"
)

var fence = algorithms.Fence{
	ID: 5, Incarnation: proto.Incarnation{0xab}, Term: 1, For: 2, Attempt: 3, Reason: "it hangs",
}

var incarnation = proto.Incarnation{0xab, 1}

func target() fenceagent.Target { return fenceagent.Target{ID: 5, Incarnation: incarnation.String()} }

// sh is an agent in a line of shell.
func sh(script string) *fenceagent.Agent {
	return &fenceagent.Agent{
		Command: []string{"/bin/sh", "-c", script}, Timeout: time.Minute,
		Cluster: "demo", Self: 4, Addr: func(proto.NodeID) string { return "10.0.0.5:7947" },
	}
}

// "With what it has to do in its environment."
func TestEnvironment(t *testing.T) {
	detail, err := sh("env | grep ^RINGLEADER_FENCE | sort | cut -d_ -f3-").Fence(t.Context(), fence)
	want := "ACTION=off ADDR=10.0.0.5:7947 ATTEMPT=3 BY=4 CLUSTER=demo ID=5 INCARNATION=ab" +
		strings.Repeat("0", 30) + " NEW_TERM=2 REASON=it hangs TERM=1"
	if err != nil || !strings.HasPrefix(detail, "exit 0 after ") || !strings.HasSuffix(detail, ": "+want) {
		t.Errorf("%v\n%s\nwant %s", err, detail, want)
	}
}

// "Anything else means that nothing is known."
func TestEndings(t *testing.T) {
	for script, want := range map[string]struct {
		err    error
		detail string
	}{
		"exit 0":                                 {nil, "exit 0 after "},
		"echo no such container; exit 1":         {fenceagent.ErrFailed, ": no such container"},
		"exit 75":                                {fenceagent.ErrFailed, "exit 75 after "},
		"kill -9 $$":                             {fenceagent.ErrFailed, "signal: killed after "},
		`printf 'a\001\033[31mb\nc'`:             {nil, ": a [31mb c"},
		"head -c 5000000 /dev/zero | tr '\\0' x": {nil, strings.Repeat("x", 300) + " …"},
		"sleep 600 & echo started":               {nil, ": started"}, // who keeps the output open is not waited for
	} {
		detail, err := sh(script).Fence(t.Context(), fence)
		if !errors.Is(err, want.err) || !strings.Contains(detail, want.detail) {
			t.Errorf("%s: %q, %v; want %q, %v", script, detail, err, want.detail, want.err)
		}
	}
	agent := sh("")
	agent.Command = []string{filepath.Join(t.TempDir(), "none")}
	if detail, err := agent.Fence(t.Context(), fence); !errors.Is(err, fenceagent.ErrStart) {
		t.Errorf("%q, %v", detail, err)
	}
}

// "When it returns, nothing of the agent's process group runs any more": not
// after the time limit, nor when it is called back.
func TestTheWholeGroupIsKilled(t *testing.T) {
	for _, limit := range []bool{true, false} {
		pids := filepath.Join(t.TempDir(), "pids")
		agent := sh("trap '' TERM; sleep 600 & echo $$ $! > " + pids + ".new; mv " + pids + ".new " + pids + "; wait")
		ctx, cancel := context.WithCancel(t.Context())
		want := fenceagent.ErrCalledBack
		if limit {
			agent.Timeout, want = 5*time.Second, fenceagent.ErrTimeout // a busy machine's shell has begun
		} else {
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(pids); err == nil {
						cancel()
					}
				}
			}()
		}
		detail, err := agent.Fence(ctx, fence)
		cancel()
		if !errors.Is(err, want) {
			t.Errorf("%q, %v, want %v", detail, err, want)
		}
		text, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			awaitEnd(t, pid)
		}
	}
}

// awaitEnd waits until a process that was killed is gone, or is a zombie that
// whoever inherited it has to reap.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil &&
			strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}

// A program that cannot be run is found when it is named, not when it is needed.
func TestParse(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"", "  ", "/no/such/agent off", plain} {
		if words, err := fenceagent.Parse(line); err == nil {
			t.Errorf("%q was taken as %q", line, words)
		}
	}
	if words, err := fenceagent.Parse(" /bin/sh  -c true "); err != nil || len(words) != 3 {
		t.Errorf("%q, %v", words, err)
	}
}
