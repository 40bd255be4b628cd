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
	// ErrSubreaper: the subreaper ended, or did not answer. The tree is gone, and the Supervisor
	// can no longer be used.
	ErrSubreaper = errors.New("the process that keeps the command ended")
	// ErrCannotEnd: the command was not started, since it could not be ended in time.
	ErrCannotEnd = errors.New("it could not be ended before the lease does")
	// ErrNotFound: there is no such command.
	ErrNotFound = errors.New("no such command")
	// ErrNotExecutable: the command exists but cannot be executed.
	ErrNotExecutable = errors.New("the command cannot be executed")
)

// Config describes the command that a Supervisor runs, and how.
type Config struct {
	// Grace is how long the command has from SIGTERM to SIGKILL.
	Grace time.Duration
	// KillTime is how long before the deadline SIGKILL is sent. In this time the kernel must end
	// the tree.
	KillTime time.Duration
	// Hold are sockets that stay open in the subreaper and in the command. The caller may close its
	// own copies when Start has returned.
	Hold []syscall.Conn
}

// Spec describes one run of the command.
type Spec struct {
	// Path is the executable, and Args its arguments; the first argument is its name.
	Path string
	Args []string
	Env  []string
	// Deadline is when the command and all its processes must have ended, by package clock; zero
	// for never. See Supervisor.Extend.
	Deadline time.Time
}

// Exit describes how the command ended.
type Exit struct {
	// Status is the exit status of the command's first process.
	Status syscall.WaitStatus
	// Stopped says that the command was told to stop before it ended, because the context of Run
	// ended or the deadline came.
	Stopped bool
	// Late says that the command was told to stop because of the deadline.
	Late bool
	// Left is how many processes the command left behind when it ended. The subreaper ended them too.
	Left int
}

// Code returns the code that a shell would show: 128+n for a death by signal n.
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

// Find returns the path of the executable that a shell would run for name. Errors wrap ErrNotFound
// or ErrNotExecutable.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("%s: %w: it is in the present directory: write ./%s",
			name, ErrNotFound, name)
	}
	return path, startError(name, err)
}

// startError says why a command could not be started, in the words of a shell.
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
