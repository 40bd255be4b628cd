package testcluster

import (
	"os/exec"
	"runtime"
)

// launcher starts processes from one OS thread that lives as long as it does.
//
// A child's death signal is bound to the thread that started the child, not to
// the process: started from an ordinary goroutine, a child would be killed as
// soon as the Go scheduler retires that thread.
type launcher chan launch

type launch struct {
	cmd *exec.Cmd
	err chan<- error
}

func newLauncher() launcher {
	l := make(launcher)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the loop
		for next := range l {
			next.err <- next.cmd.Start()
		}
	}()
	return l
}

// start is cmd.Start on the launcher's thread.
func (l launcher) start(cmd *exec.Cmd) error {
	err := make(chan error)
	l <- launch{cmd, err}
	return <-err
}

// stop ends the thread. No child may be left: it would be killed.
func (l launcher) stop() { close(l) }
