package kv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// What the client was told it returns as the errors of package fence.
func TestClientErrors(t *testing.T) {
	r := start(t)
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	if err := r.Seal(t.Context(), six); err != nil {
		t.Fatal(err)
	}
	err := r.Put(t.Context(), five, "a", nil)
	if stale, ok := errors.AsType[*fence.StaleError](err); !ok || *stale != (fence.StaleError{
		Token: five, Highest: six,
	}) {
		t.Errorf("a stale write: %v", err)
	}
	if err := r.Delete(t.Context(), fencetest.Token(6, 3), "a"); !errors.Is(err, fence.ErrOtherHolder) {
		t.Errorf("another holder's: %v", err)
	}
	if _, err := r.Get(t.Context(), six, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such key: %v", err)
	}
	if err := r.Put(t.Context(), six, "", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("no key: %v", err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if err := NewClient(other.URL).Seal(t.Context(), six); err == nil ||
		errors.Is(err, ErrRefused) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("another program: %v", err)
	}
}

// "Graceful shutdown": a write that is under way when the service is told to
// stop is finished and answered.
func TestServeFinishes(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stop()
		w.WriteHeader(http.StatusNoContent)
	})
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, handler, log.New(io.Discard, "", 0)) }()
	if err := NewClient("http://"+ln.Addr().String()).Seal(t.Context(), fencetest.Token(5, 1)); err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), ln, handler, log.New(io.Discard, "", 0)); err == nil {
		t.Error("served on a closed listener")
	}
}

// Promise: "full or read-only disk gives 507/500 with a clear error".
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		err    error
		want   int
		advice string
	}{
		{fmt.Errorf("%w: %w", store.ErrNoSpace, syscall.ENOSPC), 507, "make room"},
		{syscall.EROFS, 500, "make the disk of the store writable"},
		{syscall.EIO, 500, ""},
		{fmt.Errorf("%w: %w", store.ErrBroken, syscall.ENOSPC), 500, "start the process again"},
		{store.ErrCorrupt, 500, "from a copy"},
	} {
		w := httptest.NewRecorder()
		refuse(w, c.err)
		if w.Code != c.want || !strings.Contains(w.Body.String(), c.err.Error()) ||
			!strings.Contains(w.Body.String(), c.advice) {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}
