package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/rounds"
)

// The exit codes. They are a promise: scripts and supervisors act on them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitConfig      = 4
	exitConflict    = 5
	exitNoLeader    = 6
	exitNotLeader   = 7
	exitLost        = 75
	exitCannot      = 126
	exitNoCommand   = 127
	exitInterrupted = 130
)

// The situations of this package that have an exit code of their own.
var (
	errUsage       = errors.New("the command line is wrong")
	errConfig      = errors.New("the configuration is wrong")
	errNoLeader    = errors.New("nobody leads")
	errNotLeader   = errors.New("not the leader")
	errInterrupted = errors.New("interrupted")
)

// exits is the only table of exit codes: the meaning of each code, and the errors that
// lead to it. The first row that matches an error decides; exitError is for all other errors.
// The codes of findings are in rounds.FindingKinds.
var exits = []struct {
	code    int
	meaning string
	errors  []error
}{
	{exitOK, "ok", nil},
	{exitError, "error", nil},
	{exitUsage, "usage: the command line is wrong", []error{errUsage}},
	{
		exitConfig, "configuration: a setting, the file or the data is wrong",
		[]error{errConfig, ringleader.ErrConfig, httpapi.ErrTokenInClear},
	},
	{
		exitConflict, "identity conflict: another process is this node",
		[]error{ringleader.ErrIDTaken, ringleader.ErrInUse},
	},
	{
		exitNoLeader, "no leader (no quorum), or timed out",
		[]error{errNoLeader, context.DeadlineExceeded},
	},
	{exitNotLeader, "not the leader (leader --is-me, lease)", []error{errNotLeader}},
	{exitLost, "leadership was lost (exec --restart never)", []error{execution.ErrLost}},
	{
		exitCannot, "the command cannot be executed (exec)",
		[]error{supervise.ErrNotExecutable},
	},
	{exitNoCommand, "there is no such command (exec)", []error{supervise.ErrNotFound}},
	{exitInterrupted, "interrupted (128 + the signal's number)", []error{errInterrupted}},
}

// exitCode returns the exit code for err.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	for _, row := range exits {
		for _, target := range row.errors {
			if errors.Is(err, target) {
				return row.code
			}
		}
	}
	// The library's own exits are about words that it does not know.
	if _, ok := errors.AsType[cli.ExitCoder](err); ok {
		return exitUsage
	}
	return exitError
}

// exitCodesHelp returns the table of exit codes as a text for the help.
func exitCodesHelp() string {
	var b strings.Builder
	b.WriteString("EXIT CODES:")
	for _, row := range exits {
		if row.code == exitLost { // they stand between
			first, last := findingCodes()
			fmt.Fprintf(&b, "\n  %2d-%d  findings, a code each kind (rounds --check; see its --help)", first, last)
		}
		fmt.Fprintf(&b, "\n  %5d  %s", row.code, row.meaning)
	}
	return b.String()
}

// findingCodes returns the lowest and the highest exit code of the kinds of findings.
func findingCodes() (first, last int) {
	kinds := rounds.FindingKinds
	first, last = kinds[0].Code, kinds[0].Code
	for _, kind := range kinds {
		first, last = min(first, kind.Code), max(last, kind.Code)
	}
	return first, last
}

// marked is an error that counts as another error, too, and keeps its own text.
type marked struct {
	error
	as error
}

func (m marked) Unwrap() []error { return []error{m.error, m.as} }

// mark returns err as an error that also counts as the error as (errUsage, errConfig, ...).
func mark(as, err error) error {
	if err == nil {
		return nil
	}
	return marked{err, as}
}

// usagef returns an error about a wrong command line.
func usagef(format string, args ...any) error {
	return mark(errUsage, fmt.Errorf(format, args...))
}

// noHelp returns the word for which the library has no help; ok is false if err says
// something else.
func noHelp(err error) (name string, ok bool) {
	if _, ofLibrary := errors.AsType[cli.ExitCoder](err); !ofLibrary {
		return "", false
	}
	name, ok = strings.CutPrefix(err.Error(), "No help topic for '")
	return strings.TrimSuffix(name, "'"), ok
}

// sayError prints err for the user and returns the exit code. It prints nothing for an error
// without text: the user has been told already.
func sayError(stderr io.Writer, err error) int {
	if name, ok := noHelp(err); ok {
		err = usagef("there is no help on %q: it is no command\nsee ringleader --help", name)
	}
	if err != nil && err.Error() != "" {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(stderr, "ringleader: %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return exitCode(err)
}
