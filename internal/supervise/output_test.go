package supervise

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errLate = errors.New("late")

// Output gives the beginning of what was written, how the command ended, and why it
// was ended: one that hangs, floods, or leaves something behind that holds its
// pipes, costs no more than the limits.
func TestOutput(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		code         int
		err          error
	}{
		"well":   {"echo yes", "yes\n", 0, nil},
		"errors": {"echo no >&2; exit 3", "no\n", 3, nil},
		"hangs":  {"trap '' TERM; echo here; : >MARK; sleep 600", "here\n", 0, errLate},
		"floods": {
			"echo 0123456789; echo 0123456789; : >MARK; while :; do echo; done", "0123456789\n012345678", 0, errLate,
		},
		"forks":   {"sleep 600 & echo gone", "gone\n", 0, nil},
		"nothing": {":", "", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(mark); err == nil {
						cancel(errLate)
					}
					time.Sleep(time.Millisecond) // another process's file: it can only be looked at again
				}
			}()
			out, err := Output(ctx, 20, "/bin/sh", "-c", strings.ReplaceAll(c.script, "MARK", mark))
			exit, failed := errors.AsType[*exec.ExitError](err)
			switch {
			case !strings.HasPrefix(string(out), c.want) || len(out) > 20:
				t.Errorf("%q", out)
			case c.code != 0 && (!failed || exit.ExitCode() != c.code):
				t.Errorf("%v, want code %d", err, c.code)
			case c.code == 0 && !errors.Is(err, c.err):
				t.Errorf("%v, want %v", err, c.err)
			}
		})
	}
	if _, err := Output(t.Context(), 1, "/no/such"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
