package supervise

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Promise: listed "returns the descendants of root that the kernel lists as children": also one of another
// session.
func TestListed(t *testing.T) {
	cmd := exec.Command("sh", "-c", "setsid sleep 60 & echo $!; exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	grandchild, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if found := listed(os.Getpid()); !slices.Contains(found, cmd.Process.Pid) || !slices.Contains(found, grandchild) {
		t.Errorf("found %v, want pids %d and %d among them", found, cmd.Process.Pid, grandchild)
	}
	for _, pid := range listed(cmd.Process.Pid) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if found := listed(grandchild); len(found) > 0 {
		t.Errorf("found %v below one that has ended", found)
	}
}
