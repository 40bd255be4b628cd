package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
)

func mustOpen(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// reopen is another process's view of s.
func reopen(t *testing.T, s *Store) *Store {
	t.Helper()
	dir := filepath.Dir(s.db.Path())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, dir)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds checks what the store keeps.
func holds(t *testing.T, s *Store, highest fence.Token, key, want string) {
	t.Helper()
	if got, err := s.Highest(); err != nil || got != highest {
		t.Errorf("the highest token is %v (%v), want %v", got, err, highest)
	}
	got, err := s.Get(key)
	if want == "" && !errors.Is(err, ErrNotFound) || want != "" && err != nil || string(got.Data) != want {
		t.Errorf("%s is %.20q (%v), want %.20q", key, got.Data, err, want)
	}
}

// storage is one key of a store.
type storage struct{ *Store }

func (s storage) Write(_ context.Context, t fence.Token, value string) error {
	return s.Put(t, "k", []byte(value))
}

func (s storage) Seal(_ context.Context, t fence.Token) error { return s.Store.Seal(t) }

func (s storage) Read(context.Context) (string, error) {
	v, err := s.Get("k")
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err == nil && strings.Contains(string(v.Data), "#") &&
		!strings.HasPrefix(string(v.Data), v.By.String()) {
		return "", fmt.Errorf("%s was written by %v", v.Data, v.By)
	}
	return string(v.Data), err
}

func TestStorage(t *testing.T) {
	t.Run("rules", func(t *testing.T) { fencetest.Rules(t, storage{mustOpen(t, t.TempDir())}) })
	t.Run("race", func(t *testing.T) { fencetest.Race(t, storage{mustOpen(t, t.TempDir())}) })
}

// Promise: the token and the value are durable together.
func TestSurvivesReopening(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "new", "directory"))
	holds(t, s, fence.Token{}, "a", "")
	s = reopen(t, s) // empty, and still so
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	s = reopen(t, s)
	holds(t, s, five, "a", "1")
	must(t, s.Seal(six))
	s = reopen(t, s)
	holds(t, s, six, "a", "1")
	if v, err := s.Get("a"); err != nil || v.By != five {
		t.Errorf("it was written by %v (%v), want %v", v.By, err, five)
	}
	if err := s.Delete(five, "a"); !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("a stale delete: %v", err)
	}
	must(t, s.Delete(six, "a"))
	must(t, s.Delete(six, "a")) // it is gone: no error
	holds(t, reopen(t, s), six, "a", "")
}

// A read as leader needs the seal.
func TestGetAs(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	if _, err := s.GetAs(six, "a"); !errors.Is(err, fence.ErrUnsealed) {
		t.Errorf("before the seal: %v", err)
	}
	must(t, s.Seal(six))
	if v, err := s.GetAs(six, "a"); err != nil || string(v.Data) != "1" {
		t.Errorf("after the seal: %q, %v", v.Data, err)
	}
	if _, err := s.GetAs(five, "a"); !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("the former leader: %v", err)
	}
}

// What cannot be kept is refused before it costs a token.
func TestLimits(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	five := fencetest.Token(5, 1)
	for _, key := range []string{
		"", strings.Repeat("k", MaxKey+1), "a\x00b", "a\nb", "\x7f", "\xff", "a\u0085b",
	} {
		_, err := s.Get(key)
		if err := errors.Join(err, s.Put(five, key, nil), s.Delete(five, key)); strings.Count(
			err.Error(), ErrKey.Error()) != 3 {
			t.Errorf("key %.20q: %v", key, err)
		}
	}
	if err := s.Put(five, "k", make([]byte, MaxValue+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large value: %v", err)
	}
	if got, err := s.Highest(); err != nil || !got.IsZero() {
		t.Errorf("%v is sealed (%v)", got, err)
	}
	for _, key := range []string{"k", "a/b//..", "ключ 🔑", strings.Repeat("k", MaxKey)} {
		value := bytes.Repeat([]byte{0, 0xff}, MaxValue/2)
		must(t, s.Put(five, key, value))
		if got, err := s.Get(key); err != nil || !bytes.Equal(got.Data, value) {
			t.Errorf("key %.20q: %d bytes, %v", key, len(got.Data), err)
		}
	}
	must(t, s.Put(five, "k", nil))
	if got, err := s.Get("k"); err != nil || len(got.Data) != 0 {
		t.Errorf("an empty value: %d bytes, %v", len(got.Data), err)
	}
}

// Promise: a taken lock is told as such, and does no harm.
func TestLocked(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	five := fencetest.Token(5, 1)
	dir := filepath.Dir(s.db.Path())
	if _, err := Open(dir); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second Open: %v", err)
	}
	must(t, s.Put(five, "a", []byte("1")))
	holds(t, s, five, "a", "1")
}

// A write whose last sync failed may or may not be on the disk. The page cache
// shows it, so nothing may be read any more.
func TestBroken(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	s.write = func(change func(*bbolt.Tx) error) error {
		return errors.Join(s.db.Update(change), syscall.EIO)
	}
	if err := s.Put(six, "a", []byte("2")); !errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the write: %v", err)
	}
	select {
	case <-s.Broken():
	default:
		t.Error("the store does not say that it is broken")
	}
	_, getErr := s.Get("a")
	_, getAsErr := s.GetAs(six, "a")
	_, highestErr := s.Highest()
	for what, err := range map[string]error{
		"get": getErr, "get as": getAsErr, "highest": highestErr,
		"put": s.Put(six, "a", nil), "delete": s.Delete(six, "a"), "seal": s.Seal(six),
	} {
		if !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A write that failed before its last step has changed nothing, and the next
// one may succeed.
func TestFailedWrite(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	s.write = func(change func(*bbolt.Tx) error) error {
		return s.db.Update(func(tx *bbolt.Tx) error { return errors.Join(change(tx), syscall.EIO) })
	}
	if err := s.Put(six, "a", []byte("2")); errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the write: %v", err)
	}
	holds(t, s, five, "a", "1")
	s.write = s.db.Update
	must(t, s.Put(six, "a", []byte("2")))
	holds(t, s, six, "a", "2")
}
