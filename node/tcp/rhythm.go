package tcp

import (
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// rhythm times this node's beats. Any goroutine may use it.
//
//  1. Two beats are an interval apart, or more if this node was late: its own
//     lateness makes it slower to accuse others, never faster. A beat that is late
//     by more than a quarter of an interval counts none: on a machine that is
//     short of processors the others are late too.
//  2. A node that has only its leader to watch, and hears it ask, lets its own
//     beats pass: at rest timers cost a process more than what it receives. It
//     looks once in a lull. If the leader has been silent for an interval and a
//     half by then, the intervals since are counted at once, and the next beat
//     comes where it would have come.
type rhythm struct {
	interval time.Duration
	lull     time.Duration // below what a peer may be silent
	timer    *time.Timer

	mu     sync.Mutex
	due    time.Time    // when the timer fires
	only   proto.NodeID // whose PINGs make beats needless; 0 for nobody's
	heard  time.Time    // the last of them
	asleep bool         // until the timer fires
}

// newRhythm begins to beat at once. A peer may be silent for misses intervals.
func newRhythm(interval time.Duration, misses int) *rhythm {
	r := &rhythm{
		interval: interval, timer: time.NewTimer(interval),
		lull: time.Duration(max(1, misses/2))*interval + interval/2,
	}
	r.arm(interval)
	return r
}

// beat is what the timer tells.
type beat struct {
	lull      bool // there is nothing to do
	intervals int  // that count
	anew      bool // the timer fired more than an interval too late
}

// next is called when the timer fires, and sets it anew.
func (r *rhythm) next(now time.Time) beat {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := now.Sub(r.due)
	b := beat{intervals: 1, anew: late > r.interval}
	silence := now.Sub(r.heard)
	wait := r.interval
	switch {
	case r.only != 0 && silence < r.interval*3/2:
		r.asleep = true
		r.arm(r.lull - silence)
		return beat{lull: true}
	case r.asleep:
		r.asleep = false
		b.intervals = int(silence / r.interval)
		wait -= silence % r.interval
	}
	if late > r.interval/4 {
		b.intervals = 0
	}
	r.arm(wait)
	return b
}

// relyOn says whose PINGs make beats needless from now on, 0 for nobody's.
func (r *rhythm) relyOn(id proto.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.only == id {
		return
	}
	r.only, r.heard = id, time.Time{}
	if r.asleep {
		r.asleep = false
		r.arm(r.interval)
	}
}

// hear says that node id asked for a sign of life, and so gave one.
func (r *rhythm) hear(id proto.NodeID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.only == id {
		r.heard = now
	}
}

// arm sets the timer. The caller holds mu.
func (r *rhythm) arm(wait time.Duration) {
	r.due = time.Now().Add(wait)
	r.timer.Reset(wait)
}
