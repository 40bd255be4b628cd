package supervise

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// drainTime is how long the pipes of a command that has ended may stay open, in
// somebody's hands that it left behind.
const drainTime = 100 * time.Millisecond

// Job is a command that runs beside this process: a hook, a check, a fence agent. It
// is in a process group of its own, and on Linux the kernel kills it when this
// process ends, however that ends.
type Job struct {
	Path string
	Args []string
	Env  []string // nil for that of this process
	Keep int      // so many bytes, from the beginning, of what it writes are kept
}

// Output runs a command to its end, or until ctx ends: see Job.Output.
func Output(ctx context.Context, keep int, path string, args ...string) ([]byte, error) {
	return Job{Path: path, Args: args, Keep: keep}.Output(ctx)
}

// Output runs the command to its end, or until ctx ends, and then kills what is left of
// its process group. It returns the beginning of what it wrote to its standard output
// and error. The error is that of starting it, as Supervisor.Run has it, the cause
// of ctx, or an *exec.ExitError.
func (j Job) Output(ctx context.Context) ([]byte, error) {
	cmd := exec.Command(j.Path, j.Args...)
	cmd.Env = j.Env
	head := &head{left: j.Keep}
	cmd.Stdout, cmd.Stderr = head, head
	cmd.WaitDelay = drainTime
	if err := startOwn(cmd); err != nil {
		return nil, startError(j.Path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	disown(cmd)
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; what it left behind holds the pipes
	}
	return head.kept, err
}

// head keeps the beginning of what is written to it, and takes all of it.
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
