package testcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/ringleader-dev/ringleader/internal/supervise"
)

// Process is a child process that this program started. It has a process group of its own, so that
// a Ctrl-C on the terminal reaches only this program. On Linux the kernel kills the child when this
// program dies. Any goroutine may call its methods.
type Process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	done  chan struct{} // closed when the process has ended and all that it wrote is read
}

// StartHelper starts a process that runs beside the nodes. One goroutine calls the function said
// with each line that the process writes on standard output; its standard error goes to stderr.
// The caller ends the process with Finish or Kill.
func StartHelper(line []string, stderr io.Writer, said func(line []byte)) (*Process, error) {
	p := &Process{cmd: exec.Command(line[0], line[1:]...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &lines{said: said}, stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.start(nil); err != nil {
		return nil, err
	}
	return p, nil
}

// start starts the process. When the process has ended, start's goroutine calls the function ended,
// if that is not nil.
func (p *Process) start(ended func()) error {
	if err := supervise.StartOwn(p.cmd); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended stands in its ProcessState
		supervise.Disown(p.cmd)
		close(p.done)
		if ended != nil {
			ended()
		}
	}()
	return nil
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Tell writes a line to the process's standard input.
func (p *Process) Tell(line string) error {
	_, err := fmt.Fprintln(p.stdin, line)
	return err
}

// Done returns a channel that is closed when the process has ended and all that it wrote is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// ended reports whether the process has ended.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// exitCode returns the code that a shell would show for a process that has ended: 128+n for a death
// by signal n.
func (p *Process) exitCode() int {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Signal sends a signal to the process. It is no error if the process has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to pid %d: %w", sig, p.PID(), err)
	}
	return nil
}

// Pause stops the process with SIGSTOP. On Linux it returns when the process does nothing any more: on a busy
// machine some of its threads run on for milliseconds.
func (p *Process) Pause() error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return supervise.AwaitStop(p.PID())
}

// Finish closes the process's standard input, which asks the process to end, and waits until it has
// ended.
func (p *Process) Finish() error {
	err := p.stdin.Close()
	<-p.done
	if code := p.exitCode(); code != 0 {
		err = errors.Join(err, fmt.Errorf("pid %d ended with %d", p.PID(), code))
	}
	return err
}

// Kill ends the process at once, and waits until it has ended.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	<-p.done
	return err
}

// lines calls the function said with each whole line that is written to it, without the line's end.
type lines struct {
	partial []byte
	said    func(line []byte)
}

// Write implements io.Writer.
func (l *lines) Write(text []byte) (int, error) {
	l.partial = append(l.partial, text...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(text), nil
		}
		l.said(line)
		l.partial = rest
	}
}
