package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Mount mounts a file system of this size, like "64k", until the end of the test. It returns the
// directory.
func Mount(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, os.ErrPermission) { // it takes root, and not every root may
		needs.Here(t, "a small disk", err)
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

// Fill uses up the disk under dir. The returned function frees it.
func Fill(t testing.TB, dir string) (free func()) {
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

// ReadOnly makes the disk that is mounted on dir read-only.
func ReadOnly(t testing.TB, dir string) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// WantUnusable checks that err wraps want, and that its text names the directory dir and says what
// to do.
func WantUnusable(t testing.TB, err error, dir string, want error) {
	t.Helper()
	if !errors.Is(err, want) || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), "choose another") {
		t.Errorf("%v, want %v, the directory and what to do", err, want)
	}
}
