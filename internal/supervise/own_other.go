//go:build !linux

package supervise

import (
	"os/exec"
	"syscall"
)

// StartOwn starts a command in a process group of its own, so that a Ctrl-C on the terminal reaches
// only this process. Without a death signal, the command outlives this process if nobody ends it.
// Everything else that cmd.SysProcAttr says holds.
func StartOwn(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	return cmd.Start()
}

// Disown does nothing on this system.
func Disown(*exec.Cmd) {}

// AwaitStop does nothing on this system.
func AwaitStop(int) error { return nil }
