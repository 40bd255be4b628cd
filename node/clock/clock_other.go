//go:build !linux

package clock

import "time"

// begun has a reading of Go's monotonic clock: this package has no better clock on other systems
// than Linux. Whether that clock counts the time in suspend depends on the system; on macOS it does
// not.
var begun = time.Now()

func sinceBoot() time.Duration { return time.Since(begun) }

// Wall reads the wall clock. On Linux it also returns by how much somebody set that clock since the process began.
// Here nothing tells that from suspend, and set is zero.
func Wall() (now time.Time, set time.Duration) { return time.Now(), 0 }
