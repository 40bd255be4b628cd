package testcluster

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Promise: "No process outlives a Cluster: … where the kernel can (Linux) it
// ends them when the process that owns the Cluster dies without calling Close".
func TestNodesDieWithTheirOwner(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	owner := exec.Command(self)
	owner.Env = append(os.Environ(), roleEnv+"=owner", "TMPDIR="+t.TempDir())
	owner.Stderr = os.Stderr
	stdout, err := owner.StdoutPipe()
	must(t, err)
	must(t, owner.Start())
	var pids []string
	for lines := bufio.NewScanner(stdout); lines.Scan() && lines.Text() != ""; {
		pids = append(pids, lines.Text())
	}
	must(t, owner.Process.Kill())
	_ = owner.Wait() // says that it was killed
	if len(pids) != 2 {
		t.Fatalf("pids %q, want two", pids)
	}
	ctx := deadline(t, time.Minute)
	for _, pid := range pids {
		for alive(pid) {
			select {
			case <-ctx.Done():
				t.Fatalf("node with pid %s outlived its owner", pid)
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// alive reports whether the process runs: one that only waits for its parent
// to collect it does not.
func alive(pid string) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}
