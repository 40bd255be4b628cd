package clock

import (
	"sync/atomic"
	"time"
)

// source is a clock of the kernel.
type source int

// The clocks, as Linux has them.
const (
	monotonic source = iota // slewed; stands still in suspend
	boottime                // as monotonic, but counts the time in suspend
	raw                     // not slewed; stands still in suspend
	realtime                // slewed as boottime, counts the time in suspend as well, and may be set
)

// unslewed is the raw clock plus the time in suspend. Its readings never go back.
type unslewed struct {
	read func(source) time.Duration
	// suspended is how long the machine was suspended: the longest time that was measured.
	suspended atomic.Int64
}

// now reads the clock. The time in suspend is the difference between boottime and monotonic, since both are
// slewed alike. The two clocks cannot be read at the same instant. So the measured difference is too small by
// the time between the two readings, which is long if the thread got no processor in between; therefore the
// largest difference ever measured counts. Only a suspend makes the clock jump, and a reading is never later
// than the instant at which the call began.
func (c *unslewed) now() time.Duration {
	found := int64(c.read(boottime)) // first
	found -= int64(c.read(monotonic))
	most := c.suspended.Load()
	for found > most && !c.suspended.CompareAndSwap(most, found) {
		most = c.suspended.Load()
	}
	return c.read(raw) + time.Duration(max(found, most))
}
