package containers_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// socket is where the engine listens; the nodes get it, and its group.
const socket = "/var/run/docker.sock"

// "Agents for Docker (kill by label)": a leader whose container is paused is not
// only replaced: its successor kills the container first.
func TestLongFencing(t *testing.T) {
	t.Parallel()
	needEngine(t)
	info, err := os.Stat(socket)
	needs.Here(t, "the fence agent for containers", err)
	c := startCluster(t, fmt.Sprintf(`services:
  node:
    group_add: ["%d"]
    volumes: ["%s:%s"]
    environment:
      RINGLEADER_PID_FILE: /data/n{id}/node.pid
      RINGLEADER_FENCE_AGENT: >-
        ringleader fence-agent docker --label com.docker.compose.project=${COMPOSE_PROJECT_NAME}
        --label com.docker.compose.service=node --label com.docker.compose.container-number={id}
`, info.Sys().(*syscall.Stat_t).Gid, socket, socket))
	first := ""
	for end := time.Now().Add(electBound); first != "n5" && time.Now().Before(end); {
		first, _ = c.leader(t, electBound) // until leadership was handed to the best
	}

	test := func(args ...string) (string, error) {
		agent := []string{
			"--", "ringleader", "fence-agent", "docker", "--pid-file", "/data/n{id}/node.pid",
			"--label", "com.docker.compose.project=" + c.project,
			"--label", "com.docker.compose.service=node",
			"--label", "com.docker.compose.container-number={id}",
		}
		args = append([]string{"exec", c.container(t, first), "ringleader", "fence-agent", "test"}, args...)
		return c.run("docker", append(args, agent...)...)
	}
	t.Run("self-test", func(t *testing.T) {
		out, err := test("--id", "1-5")
		if err != nil || strings.Count(out, "is running") != len(allNodes) {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a later process is spared", func(t *testing.T) {
		out, err := test("--id", "3", "--off", "--incarnation", strings.Repeat("ab", 16))
		state := c.inspect(t, "n3", "{{.State.Status}}")
		if err != nil || !strings.Contains(out, "node 3 has been started again since") || state != "running" {
			t.Errorf("n3 is %s; %v\n%s", state, err, out)
		}
	})
	c.script(t, "pause", first)
	next, _ := c.leader(t, electBound, without(first)...)
	if state := c.inspect(t, first, "{{.State.Status}} {{.State.ExitCode}}"); state != "exited 137" {
		t.Errorf("%s leads, the container of %s is %q", next, first, state)
	}
	if log := c.script(t, "logs", next); !strings.Contains(log, "was not seen to stop -> fence it, attempt 1") {
		t.Errorf("no record of it in the log of %s", next)
	}
	c.script(t, "restart", first)
	c.leader(t, electBound)
}
