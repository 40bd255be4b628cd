package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Promise: the demo "ends 0 only if every step held", and a story that nobody
// can read is none.
func TestDemoUnwritable(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	dir := t.TempDir()
	demo := exec.CommandContext(t.Context(), "ringleader", "demo", "--nodes", "2", "--voters", "none")
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	var stderr bytes.Buffer
	demo.Stdout, demo.Stderr = full, &stderr
	err = demo.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != exitError {
		t.Errorf("ended with %v, want exit code %d", err, exitError)
	}
	if told := stderr.String(); strings.Count(told, "\n") != 1 ||
		!strings.Contains(told, "print the story: ") || !strings.Contains(told, "no space left") {
		t.Errorf("stderr %q", told)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}
