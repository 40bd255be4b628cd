package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Promise: "On Linux it returns when the process does nothing any more".
func TestPauseIsOver(t *testing.T) {
	c := newCluster(t, 1)
	must(t, c.StartAll())
	for range 100 {
		must(t, c.Pause(1))
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", c.PID(1)))
		must(t, err)
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			must(t, err)
			if _, state, _ := strings.Cut(string(stat), ") "); state[0] != 'T' {
				t.Errorf("%s is in state %c of %d threads", thread, state[0], len(threads))
			}
		}
		must(t, c.Resume(1))
	}
}
