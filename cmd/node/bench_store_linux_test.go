package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

// benchOn measures two failovers on a store, and one of the store's own client.
func benchOn(t *testing.T, kind, lease string) {
	t.Helper()
	needsServer(t, kind)
	dir := t.TempDir()
	run := exec.CommandContext(t.Context(), "ringleader", "bench", "failover", "--store", kind, "--nodes", "3",
		"--kills", "2", "--rival-kills", "1", "--lease", lease, "--profile", "local", "-o", "json")
	if kind != "postgres" { // its server may run as a user who reaches no directory of a test
		run.Env = append(os.Environ(), "TMPDIR="+dir)
	}
	var stderr bytes.Buffer
	run.Stderr = &stderr
	stdout, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var r bench.StoreReport
	if err := json.Unmarshal(stdout, &r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	switch {
	case len(r.Samples) != 2 || len(r.RivalSamples) != 1 || r.Rival == "" || r.Next.Min <= 0:
		t.Errorf("printed %s", stdout)
	case r.Next.Min >= r.RivalNext.Min:
		t.Errorf("a proven death took %v ms, and waiting for the lease %v ms", r.Next.Min, r.RivalNext.Min)
	}
	if left := nodesOf(t, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

// Promise: a leader on a store is replaced when its death is proven, while the store's own client waits until the
// entry has ended.
func TestBenchOnRedis(t *testing.T) {
	t.Parallel()
	benchOn(t, "redis", "3s")
}

func TestLongBenchOnStores(t *testing.T) {
	t.Parallel()
	for kind, lease := range map[string]string{"etcd": "3s", "postgres": "3s", "zookeeper": "4s"} {
		t.Run(kind, func(t *testing.T) { benchOn(t, kind, lease) })
	}
}
