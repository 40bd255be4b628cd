package supervise

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// drainTime is how long Output waits, after a command has ended, for processes that still hold the
// command's pipes open.
const drainTime = 100 * time.Millisecond

// Job is a command that runs beside this process: a hook, a check, a fence agent. It
// has a process group of its own. On Linux the kernel kills the command when this
// process ends for any reason.
type Job struct {
	Path string
	Args []string
	Env  []string // nil for the environment of this process
	Keep int      // how many bytes of the output are kept, from its beginning
}

// Output runs a command to its end, or until ctx ends: see Job.Output.
func Output(ctx context.Context, keep int, path string, args ...string) ([]byte, error) {
	return Job{Path: path, Args: args, Keep: keep}.Output(ctx)
}

// Output runs the command to its end, or until ctx ends, and then kills what is left of its process
// group. It returns the beginning of what the command wrote to its standard output and error. If
// the command cannot be started, the error is the same as that of Supervisor.Run; else it is the
// cause of ctx, or an *exec.ExitError.
func (j Job) Output(ctx context.Context) ([]byte, error) {
	cmd := exec.Command(j.Path, j.Args...)
	cmd.Env = j.Env
	head := &head{left: j.Keep}
	cmd.Stdout, cmd.Stderr = head, head
	cmd.WaitDelay = drainTime
	if err := StartOwn(cmd); err != nil {
		return nil, startError(j.Path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	Disown(cmd)
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; what it left behind holds the pipes
	}
	return head.kept, err
}

// head keeps the beginning of what is written to it, and discards the rest.
type head struct {
	kept []byte
	left int
}

func (h *head) Write(p []byte) (int, error) {
	kept := p[:min(len(p), h.left)]
	h.left -= len(kept)
	h.kept = append(h.kept, kept...)
	return len(p), nil
}
