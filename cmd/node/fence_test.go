package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/proto"
)

// fenceProcess is a running `ringleader fence`.
type fenceProcess struct {
	kv.Client
	cmd    *exec.Cmd
	stderr *bytes.Buffer // to be read when it has ended
}

func startFence(t *testing.T, dir string) fenceProcess {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, "ringleader", // this test binary: see TestMain
		"fence", "--bind", "127.0.0.1:0", "--data-dir", dir)
	p := fenceProcess{cmd: cmd, stderr: new(bytes.Buffer)}
	cmd.Stderr = p.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		if text := p.stderr.String(); t.Failed() || strings.Contains(text, "DATA RACE") {
			t.Errorf("ringleader fence:\n%s", text)
		}
	})
	// Promise: it "prints its address", and nothing else.
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://127.0.0.1:") {
		t.Fatalf("it printed %q, %v", line, err)
	}
	p.Client = kv.NewClient(strings.TrimSpace(line))
	return p
}

// ends waits for the process and returns its exit code, -1 after a signal.
func (p fenceProcess) ends() int {
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p fenceProcess) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Promise: the store refuses a former leader, says so once in its log, ends
// with 0 on SIGTERM, and goes on from the same token.
func TestFence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startFence(t, dir)
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	ctx := t.Context()
	for _, err := range []error{p.Put(ctx, five, "a", []byte("1")), p.Seal(ctx, six)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := p.Put(ctx, five, "a", []byte("2")); !errors.Is(err, fence.ErrStaleToken) {
			t.Errorf("a former leader's write: %v", err)
		}
	}
	second := exec.CommandContext(ctx, "ringleader", "fence", "--bind", "127.0.0.1:0", "--data-dir", dir)
	out, err := second.CombinedOutput()
	if second.ProcessState.ExitCode() != exitConflict ||
		!bytes.Contains(out, []byte("in use by another process")) {
		t.Errorf("a second process on the directory: %v\n%s", err, out)
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.ends(); code != exitOK {
		t.Errorf("it ended with %d on SIGTERM", code)
	}
	if told := strings.Count(p.stderr.String(), "not done: token "+five.String()); told != 1 {
		t.Errorf("a refusal is logged %d times:\n%s", told, p.stderr)
	}
	p = startFence(t, dir)
	v, err := p.Get(ctx, six, "a")
	if err != nil || string(v.Data) != "1" || v.By != five {
		t.Errorf("after a restart it is %q by %v, %v", v.Data, v.By, err)
	}
}

// Promise: "crash (SIGKILL) between writes: the token never goes back after
// restart", and what was accepted is there.
func TestFenceKilled(t *testing.T) {
	t.Parallel()
	const lives = 5
	dir := t.TempDir()
	var term atomic.Uint64
	for life := range lives {
		p := startFence(t, dir)
		before, err := p.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		accepted := writeUntilKilled(t, p, &term, 5+rand.IntN(20))
		p = startFence(t, dir)
		after, err := p.Status(t.Context())
		if err != nil || after.Token.Term < accepted.Term || after.Token.Term < before.Token.Term {
			t.Fatalf("life %d: the token is %v, it was %v, %v", life, after.Token, accepted, err)
		}
		old := fencetest.Token(accepted.Term-1, 9)
		if err := p.Put(t.Context(), old, "k", nil); !errors.Is(err, fence.ErrStaleToken) {
			t.Errorf("life %d: after the crash token %v: %v", life, old, err)
		}
		v, err := p.Get(t.Context(), fence.Token{}, "k")
		if err != nil || v.By.Term < accepted.Term || string(v.Data) != v.By.String() {
			t.Errorf("life %d: %q by %v is there, %v was accepted (%v)",
				life, v.Data, v.By, accepted, err)
		}
		p.signal(t, syscall.SIGKILL)
		p.ends()
	}
}

// writeUntilKilled lets leaders write, kills the process after some writes and
// returns the highest token that it had accepted a write of by then.
func writeUntilKilled(t *testing.T, p fenceProcess, term *atomic.Uint64, enough int) fence.Token {
	t.Helper()
	const leaders = 4
	var (
		mu       sync.Mutex
		accepted = fence.Token{Term: 1}
		writing  sync.WaitGroup
		written  = make(chan struct{}, enough)
	)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for node := range proto.NodeID(leaders) {
		writing.Go(func() {
			for {
				token := fencetest.Token(proto.Term(term.Add(1)), node+1)
				err := p.Put(ctx, token, "k", fmt.Append(nil, token))
				switch {
				case err == nil:
					mu.Lock()
					if token.Term > accepted.Term {
						accepted = token
					}
					mu.Unlock()
					select {
					case written <- struct{}{}:
					default: // it is enough
					}
				case !errors.Is(err, fence.ErrStaleToken):
					return // killed
				}
			}
		})
	}
	for range enough {
		select {
		case <-written:
		case <-time.After(patience):
			t.Fatal("the store accepts no writes")
		}
	}
	p.signal(t, syscall.SIGKILL)
	p.ends()
	writing.Wait()
	return accepted
}
