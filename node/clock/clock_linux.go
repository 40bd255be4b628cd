package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot includes the time in suspend. Go's own monotonic clock does not.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		// Every kernel that Go supports has it.
		panic("read CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
