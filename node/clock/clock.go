// Package clock tells the time that leases are judged by. It goes on while the
// machine is suspended, and no operator or time server can set it.
package clock

import "time"

// start ties the clock to the wall at the process's start, so that its readings
// look like times of day. Nothing depends on how right they are.
var start = struct{ wall, boot time.Duration }{
	wall: time.Duration(time.Now().UnixNano()), boot: sinceBoot(),
}

// Now is the reading now. Readings of one process compare with each other only.
// Any goroutine may call it, and often: it costs well below a microsecond.
func Now() time.Time {
	return time.Unix(0, int64(start.wall+sinceBoot()-start.boot))
}

// SinceBoot is how long after the machine's start Now reads t. On Linux that means
// the same in every process of the machine; elsewhere in this one only.
func SinceBoot(t time.Time) time.Duration {
	return time.Duration(t.UnixNano()) - start.wall + start.boot
}
