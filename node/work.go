package node

import (
	"sync/atomic"
	"time"
)

// work tells how long the loop has been at one event. The loop writes it, any
// goroutine may read it: that costs an idle loop no tick, and tells of one that
// hangs at once.
type work struct {
	epoch time.Time    // set once
	since atomic.Int64 // nanoseconds from epoch to the event's beginning; 0 for none
}

func (w *work) begin() { w.since.Store(max(1, int64(time.Since(w.epoch)))) }
func (w *work) end()   { w.since.Store(0) }

// Busy is how long the loop has been at one event: zero while it waits for the
// next. A disk that is slow makes it long, a Machine that hangs makes it grow for
// ever.
func (n *Node) Busy() time.Duration {
	since := n.work.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, time.Since(n.work.epoch)-time.Duration(since))
}
