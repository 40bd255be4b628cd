package clock

import (
	"sync/atomic"
	"time"
)

// source is a clock of the kernel.
type source int

// The sources, as Linux has them.
const (
	monotonic source = iota // slewed; stands still in suspend
	boottime                // monotonic, and the time in suspend
	raw                     // not slewed; stands still in suspend
)

// unslewed is the raw clock and the time in suspend. Its readings never go back.
type unslewed struct {
	read func(source) time.Duration
	// suspended is how long the machine was suspended: the most that was seen.
	suspended atomic.Int64
}

// now reads it. The time in suspend is what boottime is ahead of monotonic: both are slewed
// alike. They cannot be read in one instant, so what is found is less than that by the time
// in between, long where the thread got no processor: the most that was ever found counts.
// So nothing but a suspend makes the clock jump, and a reading is at most as late as one
// that was taken at its beginning.
func (c *unslewed) now() time.Duration {
	found := int64(c.read(boottime)) // first
	found -= int64(c.read(monotonic))
	most := c.suspended.Load()
	for found > most && !c.suspended.CompareAndSwap(most, found) {
		most = c.suspended.Load()
	}
	return c.read(raw) + time.Duration(max(found, most))
}
