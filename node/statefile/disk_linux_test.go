package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

// fill uses up the disk under dir.
func fill(t *testing.T, dir string) {
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
}

// Promise: "a disk that fills while running ends the node rather than going on
// without durability", and the state before it is what a restart finds; but not
// before the room is used up that was set aside.
func TestDiskFillsWhileRunning(t *testing.T) {
	f, _ := mustOpen(t, tmpfs(t, "64k"))
	mustSave(t, f, voted)
	fill(t, f.dir)
	s := later
	for f.end < f.size {
		s.Term, s.Reserved = s.Term+1, s.Reserved+1
		mustSave(t, f, s)
	}
	next := s
	next.Term, next.Reserved = s.Term+1, s.Reserved+1
	for range 2 {
		err := f.Save(next)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Save on a full disk: %v, want ENOSPC", err)
		}
	}
	if err := os.Remove(filepath.Join(f.dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(next); err == nil {
		t.Error("Save succeeded after a failed one")
	}
	if _, got := reopen(t, f); got != s {
		t.Errorf("kept %+v, want %+v", got, s)
	}
}

// Promise: "unwritable, read-only, full disk at start: clear error at start".
func TestDiskUnusableAtStart(t *testing.T) {
	full := func(t *testing.T, dir string) { fill(t, dir) }
	readOnly := func(t *testing.T, dir string) {
		err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		if err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		name string
		make func(*testing.T, string)
		want error
	}{
		{"full", full, syscall.ENOSPC},
		{"read-only", readOnly, syscall.EROFS},
	}
	for _, c := range cases {
		for _, used := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				dir := tmpfs(t, "64k")
				if used {
					f, _ := mustOpen(t, dir)
					mustSave(t, f, voted)
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
				}
				c.make(t, dir)
				_, _, err := Open(dir, demo4)
				wantUnusable(t, err, dir, c.want)
				_, _, err = Open(filepath.Join(dir, "new"), demo4)
				wantUnusable(t, err, dir, c.want)
			})
		}
	}
}

func wantUnusable(t *testing.T, err error, dir string, want error) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), "choose another") {
		t.Errorf("Open: %v, want %v, the directory and what to do", err, want)
	}
}
