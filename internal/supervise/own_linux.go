package supervise

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// starting runs functions on one thread that lives as long as this process. Commands are started
// there, since the kernel sends a child's death signal when the thread that started the child ends.
var starting = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread() // never unlocked
		for start := range jobs {
			start()
		}
	}()
	return jobs
})

// StartOwn starts a command in a process group of its own, so that a Ctrl-C on the terminal reaches
// only this process. The kernel kills the command when this process dies. Everything else that
// cmd.SysProcAttr says holds. The caller waits for the command, and then calls Disown.
func StartOwn(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	started := make(chan error)
	starting() <- func() {
		own.Lock()
		defer own.Unlock()
		err := cmd.Start()
		if err == nil {
			own.pids[cmd.Process.Pid] = true
		}
		started <- err
	}
	return <-started
}

// Disown forgets a command of StartOwn that has been waited for.
func Disown(cmd *exec.Cmd) {
	own.Lock()
	defer own.Unlock()
	delete(own.pids, cmd.Process.Pid)
}

// AwaitStop waits until all threads of a child that was sent SIGSTOP have stopped, or until the child has
// ended. Another goroutine that waits for the child still gets its status.
func AwaitStop(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil, errors.Is(err, unix.ECHILD): // it has ended, and somebody knows
			return nil
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait until pid %d stands still: %w", pid, err)
		}
	}
}
