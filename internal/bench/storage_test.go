package bench

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// A storage whose process cannot be started is an error, and nothing is left to end.
func TestStorageThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	if _, err := startStorage(filepath.Join(dir, "none"), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want %v", err, fs.ErrNotExist)
	}
}
