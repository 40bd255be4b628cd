// Command ringleader runs one node of a cluster that elects a leader, asks a
// running node who leads, and shows elections: on real processes (demo) and on
// simulated ones (simulate).
//
// This package is the only place that reads flags and wires the parts
// together.
package main

import (
	"context"
	"errors"
	"os"
)

func main() {
	err := newApp(os.Stdout, os.Stderr).RunContext(context.Background(), os.Args)
	code := report(os.Stderr, err)
	if ended, ok := errors.AsType[signalled](err); ok {
		code = 128 + int(ended.signal)
	}
	os.Exit(code)
}
