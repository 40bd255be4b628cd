package main

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/store/all"
)

// needsServer skips the test if there is no server of this kind here, or no client for it in this program.
func needsServer(t *testing.T, kind string) {
	t.Helper()
	if !slices.Contains(all.Schemes(), kind) {
		needs.Here(t, "a store of the kind "+kind, errors.New("this program has no client for it"))
	}
	s, err := storeserver.Start(t.Context(), kind)
	if errors.Is(err, storeserver.ErrMissing) {
		needs.Here(t, "a store of the kind "+kind, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// demoOn runs the demo on a store.
func demoOn(t *testing.T, kind string) {
	t.Helper()
	needsServer(t, kind)
	out, err := exec.CommandContext(t.Context(), "ringleader", "demo", "--store", kind, "--nodes", "3").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	story := strings.Join(strings.Fields(string(out)), " ")
	for _, want := range []string{
		"The store is " + kind, "holds the entry of node 3, with token [0-9]+:", `ringleader/demo/3/[0-9a-f]{32}`,
		"SIGKILL to node 3", "The lease of node 3 had [0-9.]+ ms left: its death was proven",
		"holds the entry of node [12], with token [0-9]+:", `ringleader/demo/[12]/[0-9a-f]{32}`,
		"SIGTERM to node", "had removed its entry", "SIGSTOP to node", "was waited out", "SIGCONT to node",
		"Every step held",
	} {
		if !regexp.MustCompile(want).MatchString(story) {
			t.Errorf("it does not tell %q:\n%s", want, out)
		}
	}
}

// Promise: the demo's story on a store, with what the store holds.
func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	demoOn(t, "redis")
}

func TestLongDemoOnStores(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"etcd", "postgres", "zookeeper"} {
		t.Run(kind, func(t *testing.T) { demoOn(t, kind) })
	}
}
