package clock

import (
	"sync/atomic"
	"time"
)

const (
	// leastSet is the least change that counts as a clock that was set.
	leastSet = 10 * time.Millisecond
	// leastPrecise is how long it may take to compare two clocks, so that the result counts.
	leastPrecise = 100 * time.Microsecond
	// firstTries and tries are how often they are compared at most, if the thread gets no processor meanwhile: when the
	// process begins, and later.
	firstTries, tries = 100, 4
)

// wallClock is the wall clock of the machine. It shows the time since boot and a difference, which changes only when
// the clock is set: both are slewed alike, and count the time in suspend.
type wallClock struct {
	read  func(source) time.Duration
	start time.Duration // the difference when the process began
	set   atomic.Int64  // by how much it has changed since, as far as it is known
}

func newWallClock(read func(source) time.Duration) *wallClock {
	c := &wallClock{read: read}
	_, c.start, _ = c.compare(firstTries)
	return c
}

// now reads the clock, and returns by how much it was set.
func (c *wallClock) now() (now, set time.Duration) {
	now, difference, precise := c.compare(tries)
	was := time.Duration(c.set.Load())
	if set = difference - c.start; !precise || (set-was).Abs() < leastSet {
		return now, was
	}
	c.set.Store(int64(set))
	return now, set
}

// compare reads the clock, and returns the difference to the time since boot.
func (c *wallClock) compare(tries int) (now, difference time.Duration, precise bool) {
	for range tries {
		before := c.read(boottime)
		now = c.read(realtime)
		took := c.read(boottime) - before
		difference = now - before - took/2
		if precise = took <= leastPrecise; precise {
			break
		}
	}
	return now, difference, precise
}
