package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever stands where a file or directory of ours should be is an error that
// names it, and is left alone.
func TestObstacles(t *testing.T) {
	file := func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }
	directory := func(path string) error { return os.Mkdir(path, 0o700) }
	cases := []struct {
		name, path string
		put        func(string) error
	}{
		{"a file for the directory", "data", file},
		{"a directory for the state", "data/state.json", directory},
		{"a directory for the temporary file", "data/state.json.tmp", directory},
		{"a directory for the lock", "data/lock", directory},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			dir, path := filepath.Join(root, "data"), filepath.Join(root, c.path)
			if path != dir {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.put(path); err != nil {
				t.Fatal(err)
			}
			_, _, err := Open(dir, demo4)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v, want an error that names %s", err, path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		})
	}
}
