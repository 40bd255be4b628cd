//go:build !linux

package supervise

import (
	"os/exec"
	"syscall"
)

// startOwn starts a command in a process group of its own.
func startOwn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}

func disown(*exec.Cmd) {}
