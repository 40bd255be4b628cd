package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// process is one that another program started. It cannot be mistaken for a
// later one with the same id.
type process struct{ file *os.File }

// openProcess opens the process with that id; it takes no privilege.
func openProcess(pid int) (*process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("open process %d: %w", pid, err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // the runtime waits for it, not a thread
		_ = unix.Close(fd)
		return nil, fmt.Errorf("open process %d: %w", pid, err)
	}
	return &process{os.NewFile(uintptr(fd), "pidfd")}, nil
}

// died waits for the death of the process and returns when the kernel told of
// it. By then it has closed the process's connections: a peer can know before.
func (p *process) died(ctx context.Context) (at time.Time, err error) {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return at, fmt.Errorf("wait for the death of a process: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = raw.Read(func(fd uintptr) bool {
		now := time.Now()
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if err != nil || ready == 0 {
			return false
		}
		at = now
		return true
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return at, fmt.Errorf("wait for the death of a process: %w", err)
	}
	return at, nil
}

func (p *process) close() { _ = p.file.Close() }
