package clock

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var ids = [...]uintptr{
	monotonic: unix.CLOCK_MONOTONIC, boottime: unix.CLOCK_BOOTTIME, raw: unix.CLOCK_MONOTONIC_RAW,
}

var machine = unslewed{read: readKernel}

func sinceBoot() time.Duration { return machine.now() }

// readKernel reads the clock s. The call never blocks, so readKernel does not tell the scheduler of the
// system call: telling it would cost more than the call.
func readKernel(s source) time.Duration {
	var ts unix.Timespec
	_, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, ids[s], uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		// Every kernel that Go supports has them.
		panic("read a clock: " + errno.Error())
	}
	return time.Duration(ts.Nano())
}
