package stonith

import "syscall"

// ownGroup starts a child in a process group of its own, which dies with us.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
