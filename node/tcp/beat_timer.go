package tcp

import (
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// beatTimer sets the beats: the times at which this node counts the silence of its peers. Any goroutine may
// call its methods.
//
//  1. Two beats are one interval apart, or more if this node was late. So a node that
//     is late accuses others later, never sooner. A beat that is late by more than a
//     quarter of an interval counts no interval: on a machine that is short of
//     processors the others are late too.
//  2. A node that watches only its leader, and gets PINGs from it, leaves beats out: it
//     rests. Without rests, timers would cost an idle process more than what it receives.
//     When the rest is over and the leader was silent for an interval and a half, the
//     timer counts the intervals of that silence at once, and the next beat comes when it
//     would have come without the rest.
type beatTimer struct {
	interval time.Duration
	rest     time.Duration // how long to rest after the leader's last PING; less than a peer may be silent
	timer    *time.Timer

	mu     sync.Mutex
	due    time.Time    // when the timer fires
	only   proto.NodeID // the node whose PINGs make beats needless; 0 for none
	heard  time.Time    // when its last PING came
	asleep bool         // it rests until the timer fires
}

// newBeatTimer returns a timer that runs: its first beat comes after one interval. A peer may be silent for
// misses intervals.
func newBeatTimer(interval time.Duration, misses int) *beatTimer {
	t := &beatTimer{
		interval: interval, timer: time.NewTimer(interval),
		rest: time.Duration(max(1, misses/2))*interval + interval/2,
	}
	t.arm(interval)
	return t
}

// beat is one tick of the timer.
type beat struct {
	rest      bool // there is nothing to do
	intervals int  // how many intervals of silence to count
	anew      bool // the timer fired more than an interval too late
}

// next returns the beat for which the timer fired, and sets the timer anew.
func (t *beatTimer) next(now time.Time) beat {
	t.mu.Lock()
	defer t.mu.Unlock()
	late := now.Sub(t.due)
	b := beat{intervals: 1, anew: late > t.interval}
	silence := now.Sub(t.heard)
	wait := t.interval
	switch {
	case t.only != 0 && silence < t.interval*3/2:
		t.asleep = true
		t.arm(t.rest - silence)
		return beat{rest: true}
	case t.asleep:
		t.asleep = false
		b.intervals = int(silence / t.interval)
		wait -= silence % t.interval
	}
	if late > t.interval/4 {
		b.intervals = 0
	}
	t.arm(wait)
	return b
}

// relyOn sets the node whose PINGs make beats needless from now on; 0 for none.
func (t *beatTimer) relyOn(id proto.NodeID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.only == id {
		return
	}
	t.only, t.heard = id, time.Time{}
	if t.asleep {
		t.asleep = false
		t.arm(t.interval)
	}
}

// hear notes the time of a PING of node id, if relyOn set that node. A PING is a sign of life.
func (t *beatTimer) hear(id proto.NodeID, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.only == id {
		t.heard = now
	}
}

// arm sets the timer. The caller holds mu.
func (t *beatTimer) arm(wait time.Duration) {
	t.due = time.Now().Add(wait)
	t.timer.Reset(wait)
}
