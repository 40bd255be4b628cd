// Package clock tells the time by which leases begin and end. The clock goes on while the machine is
// suspended, and no operator or time server can set it. On Linux nobody can make it run faster or slower
// either. Time daemons slew CLOCK_MONOTONIC and CLOCK_BOOTTIME, by up to a twelfth as chrony is set by
// default, which is more than leases allow for. So this clock is the raw clock of the hardware plus the time
// that the machine was suspended.
//
// On other systems it is Go's own monotonic clock. Whether that is slewed, and whether it goes
// on in suspend, depends on the system; on macOS it stands still.
package clock

import "time"

// start ties the clock to the wall clock at the process's start, so that its readings look like
// times of day. Nothing depends on whether they are right.
var start = struct{ wall, boot time.Duration }{
	wall: time.Duration(time.Now().UnixNano()), boot: sinceBoot(),
}

// Now reads the clock. Its readings can be compared only with others of the same process. Any
// goroutine may call it, and often: on Linux it takes three short system calls, less than a
// microsecond.
func Now() time.Time {
	return time.Unix(0, int64(start.wall+sinceBoot()-start.boot))
}

// SinceBoot returns the time from the machine's start until t, which is a reading of Now. On Linux, two
// processes of one machine get the same time, to some microseconds; on other systems the time has a meaning
// in this process only. It differs from the kernel's CLOCK_BOOTTIME, which is slewed.
func SinceBoot(t time.Time) time.Duration {
	return time.Duration(t.UnixNano()) - start.wall + start.boot
}
