package containers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// benchBound is for a benchmark that usually takes a fifth of it.
const benchBound = 2 * time.Minute

// TestLongBenchDocker runs `ringleader bench failover --signal DOCKER`.
func TestLongBenchDocker(t *testing.T) {
	needs.Here(t, "the benchmark of docker kill", missing())
	binary, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("measures", func(t *testing.T) { benchMeasures(t, binary) })
	t.Run("interrupted", func(t *testing.T) { benchInterrupted(t, binary) })
}

// bench is a benchmark that runs.
type bench struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// startBench starts one. When the test ends early it is told to clean up.
func startBench(t *testing.T, binary string, args ...string) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(untilCleanup(t), benchBound)
	t.Cleanup(cancel)
	b := new(bench)
	b.Cmd = exec.CommandContext(ctx, binary,
		append([]string{"bench", "failover", "--signal", "DOCKER"}, args...)...)
	b.Cancel = func() error { return b.Process.Signal(os.Interrupt) }
	b.WaitDelay = time.Minute
	b.Stdout, b.Stderr = &b.stdout, &b.stderr
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	return b
}

// made is the names of what the benchmark has in the engine. All begin alike.
func (b *bench) made(t *testing.T) []string {
	t.Helper()
	prefix := fmt.Sprintf("ringleader-bench-%d-", b.Process.Pid)
	var names []string
	for _, list := range []string{
		"ps --all --format {{.Names}} --filter name=" + prefix,
		"network ls --format {{.Name}} --filter name=" + prefix,
		"volume ls --format {{.Name}} --filter name=" + prefix,
		"image ls --format {{.Repository}} " + prefix + "*",
	} {
		out, err := exec.Command("docker", strings.Fields(list)...).CombinedOutput()
		if err != nil {
			t.Fatalf("docker %s: %v\n%s", list, err, out)
		}
		names = append(names, strings.Fields(string(out))...)
	}
	return names
}

// "With docker kill, counted from the death of the process": every phase is
// measured, Docker's part and the floor beside it, and nothing stays behind.
func benchMeasures(t *testing.T, binary string) {
	b := startBench(t, binary, "--kills", "2", "--output", "json")
	if err := b.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &b.stderr)
	}
	if left := b.made(t); len(left) > 0 {
		t.Errorf("left in the engine: %v", left)
	}
	type phases struct {
		DockerKill float64 `json:"docker_kill_ms"`
		FromCall   float64 `json:"from_call_ms"`
		Detect     float64 `json:"detect_ms"`
		Elect      float64 `json:"elect_ms"`
		Announce   float64 `json:"announce_ms"`
		Total      float64 `json:"total_ms"`
		Floor      struct {
			All float64 `json:"all_ms"`
		} `json:"floor"`
	}
	var report struct {
		Signal  string   `json:"signal"`
		Samples []phases `json:"samples"`
	}
	if err := json.Unmarshal(b.stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
	if report.Signal != "DOCKER" || len(report.Samples) != 2 {
		t.Fatalf("%d samples of %s, want 2 of DOCKER", len(report.Samples), report.Signal)
	}
	const rounded = 0.01 // each figure is rounded to the microsecond
	for _, s := range report.Samples {
		if s.DockerKill <= 0 || s.Elect < 0 || s.Announce <= 0 || s.Floor.All <= 0 {
			t.Errorf("not measured: %+v", s)
		}
		if sum := max(s.Detect, 0) + s.Elect + s.Announce; s.Total < sum-rounded || s.Total > sum+rounded {
			t.Errorf("a total of %v, but the phases sum up to %v: %+v", s.Total, sum, s)
		}
		if sum := s.DockerKill + s.Detect + s.Elect + s.Announce; s.FromCall < sum-rounded || s.FromCall > sum+rounded {
			t.Errorf("%v from the call, but the parts sum up to %v: %+v", s.FromCall, sum, s)
		}
	}
}

// "Always removed afterwards, also on interrupt."
func benchInterrupted(t *testing.T, binary string) {
	const all = 1 + 1 + 2 + 2 // image, network, containers, volumes
	b := startBench(t, binary, "--nodes", "2", "--kills", "1000")
	wait, cancel := context.WithTimeout(t.Context(), benchBound)
	defer cancel()
	for len(b.made(t)) < all {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-wait.Done():
			t.Fatalf("within %v it made only %v: %s", benchBound, b.made(t), &b.stderr)
		}
	}
	if err := b.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := b.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 {
		t.Errorf("ended with %v, want exit code 130: %s", err, &b.stderr)
	}
	if left := b.made(t); len(left) > 0 {
		t.Errorf("left in the engine: %v", left)
	}
}
