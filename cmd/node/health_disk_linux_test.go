package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/smalldisk"
)

// "unhealthy: disk 98 % full": a leader whose disk fills up hands over.
func TestUnhealthyDisk(t *testing.T) {
	dir := smalldisk.Mount(t, "16m")
	w := newWard(t, "--voters", "1-3", "--lease", "2500ms", "--health-disk", "90")
	w.check(w.Start(1))
	w.check(w.Start(2))
	w.check(w.Start(3, "--data-dir", dir))
	w.leads(3)
	w.check(os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 15<<20*98/100), 0o600))
	w.leads(2)
	w.says(3, asked{2}, "Node 3 does not stand for election: unhealthy: disk 9")
	w.check(os.Remove(filepath.Join(dir, "fill")))
	w.leads(3)
}
