package clock

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sinceBoot includes the time in suspend. Go's own monotonic clock does not. The call
// never blocks, so the scheduler is not told of it: that would cost more.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	_, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME,
		unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		// Every kernel that Go supports has it.
		panic("read CLOCK_BOOTTIME: " + errno.Error())
	}
	return time.Duration(ts.Nano())
}
