package node

import (
	"sync/atomic"
	"time"
)

// work measures how long the Node's goroutine has worked on one event. Only that goroutine writes to work;
// any goroutine may read it. The measurement needs no ticker while the goroutine is idle, and shows at once
// if the goroutine hangs.
type work struct {
	began time.Time    // set once
	since atomic.Int64 // when the present event began, in nanoseconds since began; 0 if there is none
}

func (w *work) begin() { w.since.Store(max(1, int64(time.Since(w.began)))) }
func (w *work) end()   { w.since.Store(0) }

// Busy returns how long the Node's goroutine has worked on one event; zero while it waits for the next one.
// The time is long if the disk is slow, and grows for ever if the Machine hangs. Busy may be called from any
// goroutine.
func (n *Node) Busy() time.Duration {
	since := n.work.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, time.Since(n.work.began)-time.Duration(since))
}
