package storeserver

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Promise: the package "ends what it started", and its data goes with it.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			s, err := Start(t.Context(), kind)
			if errors.Is(err, ErrMissing) {
				needs.Here(t, "a server of "+kind, err)
			}
			if err != nil {
				t.Fatal(err)
			}
			pid := s.PID()
			if url := s.URL("one"); !strings.HasPrefix(url, kind+"://") {
				t.Errorf("URL %s", url)
			}
			conn, err := net.Dial("tcp", s.Address())
			if err != nil {
				t.Error(err)
			} else {
				_ = conn.Close()
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("pid %d is still there: %v", pid, err)
			}
			if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", s.dir, err)
			}
		})
	}
}

// Promise: the error for a server that is not installed says how to install it.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, kind := range []string{"redis", "etcd", "zookeeper"} {
		_, err := Start(t.Context(), kind)
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := Start(t.Context(), "oracle"); err == nil || !strings.Contains(err.Error(), "want one of etcd") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// A start that is given up leaves nothing.
func TestGivenUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Start(ctx, "redis")
	if errors.Is(err, ErrMissing) {
		needs.Here(t, "a server of redis", err)
	}
	if err == nil { // it served at once
		_ = s.Close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}
