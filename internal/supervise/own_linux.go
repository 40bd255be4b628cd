package supervise

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// starting takes what is to be started on one thread that lives as long as this
// process: a child's death signal hangs on the thread that started it.
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

// startOwn starts a command in a group of its own, which dies with this process.
func startOwn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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

// disown forgets a command that has been waited for.
func disown(cmd *exec.Cmd) {
	own.Lock()
	defer own.Unlock()
	delete(own.pids, cmd.Process.Pid)
}
