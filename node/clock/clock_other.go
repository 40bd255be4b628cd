//go:build !linux

package clock

import "time"

// begun carries Go's monotonic reading, which elsewhere than on Linux is what
// there is. Whether it counts the time in suspend depends on the system; on macOS
// it does not.
var begun = time.Now()

func sinceBoot() time.Duration { return time.Since(begun) }
