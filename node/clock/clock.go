// Package clock tells the time that leases are judged by. It goes on while the
// machine is suspended, no operator or time server can set it, and on Linux none can make
// it run faster or slower: time daemons slew CLOCK_MONOTONIC and CLOCK_BOOTTIME, by up to
// a twelfth as chrony is set by default, which is more than leases allow for. So it is the
// raw clock of the hardware, and the time that was spent suspended besides.
//
// Elsewhere it is Go's own monotonic clock. There it depends on the system whether that is
// slewed, and goes on in suspend; on macOS it does not go on.
package clock

import "time"

// start ties the clock to the wall at the process's start, so that its readings
// look like times of day. Nothing depends on how right they are.
var start = struct{ wall, boot time.Duration }{
	wall: time.Duration(time.Now().UnixNano()), boot: sinceBoot(),
}

// Now is the reading now. Readings of one process compare with each other only.
// Any goroutine may call it, and often: on Linux it costs three short system calls,
// less than a microsecond.
func Now() time.Time {
	return time.Unix(0, int64(start.wall+sinceBoot()-start.boot))
}

// SinceBoot is how long after the machine's start Now reads t. On Linux that means
// the same in every process of the machine, to some microseconds; elsewhere in this one only.
// It is not the kernel's CLOCK_BOOTTIME, from which slewing may have taken it away by any
// time.
func SinceBoot(t time.Time) time.Duration {
	return time.Duration(t.UnixNano()) - start.wall + start.boot
}
