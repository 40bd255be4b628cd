package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/internal/smalldisk"
)

// Promise: "a full disk … a clear error, nothing lost or half-written"; with
// some space the store goes on.
func TestDiskFillsWhileRunning(t *testing.T) {
	dir := smalldisk.Mount(t, "4m")
	s := mustOpen(t, filepath.Join(dir, "data"))
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	free := smalldisk.Fill(t, dir)
	large := make([]byte, MaxValue)
	for range 3 {
		if err := s.Put(six, "a", large); !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a write on a full disk: %v", err)
		}
		holds(t, s, five, "a", "1")
	}
	s = reopen(t, s) // the token again fits in: its pages are there already
	holds(t, s, five, "a", "1")
	free()
	must(t, s.Put(six, "a", large))
	holds(t, s, six, "a", string(large))
	holds(t, reopen(t, s), six, "a", string(large))
}

// Promise: a disk that cannot be written is a clear error at the start; it
// leaves nothing behind that a later start would trip over.
func TestDiskUnusableAtStart(t *testing.T) {
	t.Run("full", func(t *testing.T) {
		dir := smalldisk.Mount(t, "64k")
		free := smalldisk.Fill(t, dir)
		_, err := Open(dir)
		smalldisk.WantUnusable(t, err, dir, syscall.ENOSPC)
		if !errors.Is(err, ErrNoSpace) {
			t.Errorf("%v is not ErrNoSpace", err)
		}
		free()
		s := mustOpen(t, dir)
		five := fencetest.Token(5, 1)
		must(t, s.Put(five, "a", []byte("1")))
		holds(t, s, five, "a", "1")
		must(t, s.Close())
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("in the directory is %v, %v", left, err)
		}
	})
	for _, used := range []bool{false, true} {
		t.Run("read-only", func(t *testing.T) {
			dir := smalldisk.Mount(t, "1m")
			if used {
				must(t, mustOpen(t, dir).Close())
			}
			smalldisk.ReadOnly(t, dir)
			_, err := Open(dir)
			smalldisk.WantUnusable(t, err, dir, syscall.EROFS)
			_, err = Open(filepath.Join(dir, "new"))
			smalldisk.WantUnusable(t, err, dir, syscall.EROFS)
		})
	}
	t.Run("no directory", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, nil, 0o600))
		if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "is not a directory") {
			t.Errorf("Open: %v", err)
		}
	})
}
