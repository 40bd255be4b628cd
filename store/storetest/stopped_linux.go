package storetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Stopped waits until a process that got SIGSTOP has stopped, or ended: each of its threads does so a moment
// later.
func Stopped(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); !stopped(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d does not stop", pid)
		}
	}
}

func stopped(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, name := range threads {
		stat, err := os.ReadFile(name)
		_, after, _ := bytes.Cut(stat, []byte(") ")) // the name of the program is in brackets
		if err != nil || !bytes.HasPrefix(after, []byte("T")) {
			return false
		}
	}
	return true
}
