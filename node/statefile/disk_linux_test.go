package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/internal/smalldisk"
)

// Promise: "a disk that fills while running ends the node rather than going on
// without durability", and the state before it is what a restart finds; but not
// before the room is used up that was set aside.
func TestDiskFillsWhileRunning(t *testing.T) {
	f, _ := mustOpen(t, smalldisk.Mount(t, "64k"))
	mustSave(t, f, voted)
	free := smalldisk.Fill(t, f.dir)
	s := later
	for f.end < f.size {
		s.Term, s.Reserved = s.Term+1, s.Reserved+1
		mustSave(t, f, s)
	}
	next := s
	next.Term, next.Reserved = s.Term+1, s.Reserved+1
	for range 2 {
		err := f.Save(next)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), f.dir) {
			t.Errorf("Save on a full disk: %v, want ENOSPC and the directory", err)
		}
	}
	free()
	if err := f.Save(next); err == nil {
		t.Error("Save succeeded after a failed one")
	}
	if _, got := reopen(t, f); got != s {
		t.Errorf("kept %+v, want %+v", got, s)
	}
}

// Promise: "unwritable, read-only, full disk at start: clear error at start".
func TestDiskUnusableAtStart(t *testing.T) {
	full := func(t testing.TB, dir string) { smalldisk.Fill(t, dir) }
	cases := []struct {
		name string
		make func(testing.TB, string)
		want error
	}{
		{"full", full, syscall.ENOSPC},
		{"read-only", smalldisk.ReadOnly, syscall.EROFS},
	}
	for _, c := range cases {
		for _, used := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				dir := smalldisk.Mount(t, "64k")
				if used {
					f, _ := mustOpen(t, dir)
					mustSave(t, f, voted)
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
				}
				c.make(t, dir)
				_, _, err := Open(dir, demo4)
				smalldisk.WantUnusable(t, err, dir, c.want)
				_, _, err = Open(filepath.Join(dir, "new"), demo4)
				smalldisk.WantUnusable(t, err, dir, c.want)
			})
		}
	}
}

// Promise: "an unwritable directory is a clear error at start".
func TestDirectoryWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	var opened, err error
	done := make(chan struct{})
	go func() { // root without its powers is its thread, which ends with this
		defer close(done)
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		if err = unix.Capset(&header, &make([]unix.CapUserData, 2)[0]); err == nil {
			_, _, opened = Open(dir, demo4)
		}
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	smalldisk.WantUnusable(t, opened, dir, fs.ErrPermission)
}
