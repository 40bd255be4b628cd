package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// TestMain lets the test binary be ringleader too: a command of the scripts,
// and the executable of the end-to-end tests, with the race detector in it
// when the tests have it.
func TestMain(m *testing.M) {
	// The race detector keeps every process for another second at its end.
	if err := os.Setenv("GORACE", noRaceSleep); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"ringleader": main, "worker": worker})
}

const noRaceSleep = "atexit_sleep_ms=0"

// TestScripts runs the shell sessions in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exitsWith,
			"eventually": eventually,
			"listen":     listen,
		},
	})
}

// setUp gives a script the addresses $A1 … $A9, on ports that are free, and the
// logs of real clusters in $FIXTURES.
func setUp(env *testscript.Env) error {
	logs, err := filepath.Abs(filepath.Join("..", "..", "rounds", "testdata"))
	if err != nil {
		return err
	}
	env.Setenv("FIXTURES", logs)
	env.Setenv("GORACE", noRaceSleep)
	ports, err := testcluster.HoldPorts(9)
	if err != nil {
		return err
	}
	env.Defer(ports.Release)
	for i, addr := range ports.Addrs {
		env.Setenv(fmt.Sprintf("A%d", i+1), addr)
	}
	return nil
}

// exitsWith runs a command that must end with a certain code: exits CODE COMMAND…
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// eventually repeats a command until it ends with 0: eventually COMMAND…
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: eventually COMMAND [ARG…]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ts.Exec(args[0], args[1:]...) != nil {
		select {
		case <-ctx.Done():
			ts.Fatalf("never ended with 0: %q", args)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// listen occupies an address until the script ends: listen ADDRESS
func listen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listen ADDRESS")
	}
	l, err := net.Listen("tcp", args[0])
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
}
