package testcluster

import "syscall"

// processAttr gives a node a process group of its own, so that a Ctrl-C on the
// terminal reaches only the process that owns the Cluster, and asks the kernel
// to kill the node when that owner dies.
func processAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
