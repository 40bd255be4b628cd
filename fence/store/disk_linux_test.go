package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/fence/fencetest"
)

// tmpfs mounts a file system of size bytes for this test alone.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: mounting a small file system needs root")
	}
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("NOT TESTED: this root may not mount a file system:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error("unmount", dir, err)
		}
	})
	return dir
}

// fill uses up the disk under dir, and returns what gives it free.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
	}
}

// Promise: "a full disk … a clear error, nothing lost or half-written"; with
// some space the store goes on.
func TestDiskFillsWhileRunning(t *testing.T) {
	dir := tmpfs(t, "4m")
	s := mustOpen(t, filepath.Join(dir, "data"))
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	must(t, s.Put(five, "a", []byte("1")))
	free := fill(t, dir)
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
		dir := tmpfs(t, "64k")
		free := fill(t, dir)
		_, err := Open(dir)
		wantUnusable(t, err, dir, syscall.ENOSPC)
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
			dir := tmpfs(t, "1m")
			if used {
				must(t, mustOpen(t, dir).Close())
			}
			must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			_, err := Open(dir)
			wantUnusable(t, err, dir, syscall.EROFS)
			_, err = Open(filepath.Join(dir, "new"))
			wantUnusable(t, err, dir, syscall.EROFS)
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

func wantUnusable(t *testing.T, err error, dir string, want error) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), "choose another") {
		t.Errorf("Open: %v, want %v, the directory and what to do", err, want)
	}
}
