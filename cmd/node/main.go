// Command ringleader runs one node of a cluster that elects a leader, asks a
// running node who leads, and shows elections: on real processes (demo) and on
// simulated ones (simulate).
//
// This package has flags, output and exit codes. Package ringleader puts the parts of a node
// together, for this command and for any other program.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/ringleader-dev/ringleader/internal/supervise"
)

func main() {
	supervise.Enter() // the process that looks after the command of exec ends there
	stops = stopsFrom(os.Args)
	err := newApp(os.Stdout, os.Stderr).RunContext(context.Background(), os.Args)
	if then, ok := errors.AsType[afterwards](err); ok {
		err = then.do()
	}
	code := sayError(os.Stderr, err)
	if ended, ok := errors.AsType[coded](err); ok {
		code = ended.Code()
	}
	os.Exit(code)
}

// afterwards is what a command returns that goes on for long: do is called once the commands and flags of this
// program, which nobody needs any more, are free.
type afterwards struct{ do func() error }

func (afterwards) Error() string { return "the command is only prepared" }

// coded is an error that has an exit code of its own.
type coded interface {
	error
	Code() int
}
