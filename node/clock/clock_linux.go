package clock

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var ids = [...]uintptr{
	monotonic: unix.CLOCK_MONOTONIC, boottime: unix.CLOCK_BOOTTIME, raw: unix.CLOCK_MONOTONIC_RAW,
	realtime: unix.CLOCK_REALTIME,
}

var machine = unslewed{read: readKernel}

func sinceBoot() time.Duration { return machine.now() }

var wall = newWallClock(readKernel)

// Wall reads the wall clock. It also returns by how much somebody set that clock since the process began, as an
// operator or a time server does: forward if it is above zero. A clock that is only slewed is not set, nor is that of a
// machine that was suspended. Any goroutine may call it; it takes as long as Now. On other systems than Linux the time
// by which the clock was set is always zero: nothing there tells it from suspend.
func Wall() (now time.Time, set time.Duration) {
	at, set := wall.now()
	return time.Unix(0, int64(at)), set
}

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
