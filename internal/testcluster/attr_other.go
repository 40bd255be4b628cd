//go:build !linux

package testcluster

import "syscall"

// processAttr gives a node a process group of its own, so that a Ctrl-C on the
// terminal reaches only the process that owns the Cluster. Without a death
// signal, nodes outlive an owner that is killed before it calls Close.
func processAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
