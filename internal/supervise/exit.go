package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"time"
)

// The errors.
var (
	// ErrUnsupported: this system has no subreapers.
	ErrUnsupported = errors.New("commands can be supervised on Linux only")
	// ErrKeeper: the keeper ended, or did not answer. The tree is gone; the
	// Supervisor is of no more use.
	ErrKeeper = errors.New("the process that keeps the command ended")
	// ErrCannotEnd: what is to be started could not be ended in time.
	ErrCannotEnd = errors.New("it could not be ended before the lease does")
	// ErrNotFound: there is no such command.
	ErrNotFound = errors.New("no such command")
	// ErrNotExecutable: the command is there and cannot be executed.
	ErrNotExecutable = errors.New("the command cannot be executed")
)

// Config is what a Supervisor is made of.
type Config struct {
	// Grace is how long the command has from SIGTERM to SIGKILL.
	Grace time.Duration
	// KillTime is how long before the deadline SIGKILL is sent: what the kernel
	// may take to end the tree.
	KillTime time.Duration
	// Hold is what the keeper and the command keep open. The caller may close its
	// own once Start has returned.
	Hold []syscall.Conn
}

// Spec is one run of the command.
type Spec struct {
	// Path is the executable, and Args its arguments, the first its name.
	Path string
	Args []string
	Env  []string
	// Deadline is when nothing of the command may live any more, by package clock;
	// zero for never. See Supervisor.Extend.
	Deadline time.Time
}

// Exit is how the command ended.
type Exit struct {
	// Status is that of the command's first process.
	Status syscall.WaitStatus
	// Stopped: it was told to stop before it ended, for the end of Run's context or
	// for the deadline.
	Stopped bool
	// Late: it was the deadline.
	Late bool
	// Left is how many processes it left behind, which were ended too. It is
	// counted at its end.
	Left int
}

// Code is the code that a shell would show: 128+n for a death by signal n.
func (e Exit) Code() int {
	if e.Status.Signaled() {
		return 128 + int(e.Status.Signal())
	}
	return e.Status.ExitStatus()
}

func (e Exit) String() string {
	if e.Status.Signaled() {
		return fmt.Sprintf("ended by signal %d (%v)", int(e.Status.Signal()), e.Status.Signal())
	}
	return fmt.Sprintf("ended with code %d", e.Status.ExitStatus())
}

// Find is the path of the executable that a shell would run for name. Errors wrap
// ErrNotFound or ErrNotExecutable.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("%s: %w: it is in the present directory: write ./%s",
			name, ErrNotFound, name)
	}
	return path, startError(name, err)
}

// startError says why a command could not be started, in the terms of a shell.
func startError(name string, err error) error {
	if err == nil {
		return nil
	}
	if lookup, ok := errors.AsType[*exec.Error](err); ok {
		err = lookup.Err
	}
	as := ErrNotExecutable
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) ||
		errors.Is(err, syscall.ENOTDIR) {
		as = ErrNotFound
	}
	return fmt.Errorf("%s: %w: %w", name, as, err)
}
