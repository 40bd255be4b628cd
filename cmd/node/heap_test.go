package main

import (
	"runtime/metrics"
	"testing"
	"time"
)

// garbage keeps what TestCollectEarly allocates from being left out.
var garbage []byte

// "collectEarly collects garbage at each tick at which a quarter of the room is used": so Go hardly ever has to, in the
// middle of an election.
func TestCollectEarly(t *testing.T) {
	ticks := make(chan time.Time)
	go collectEarly(ticks)
	defer close(ticks)
	before := forced()
	for range 1000 {
		for range 16 {
			garbage = make([]byte, 16<<10)
		}
		ticks <- time.Now()
		ticks <- time.Now() // is taken when the collection is over that the one before may have begun
		if forced() > before {
			return
		}
	}
	t.Errorf("nothing was collected: %+v", readHeap())
}

// forced returns how many collections the program asked for.
func forced() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestHeapFull(t *testing.T) {
	for _, c := range []struct {
		heap heap
		full bool
	}{
		{heap{now: 1 << 20, kept: 1 << 20, goal: 4 << 20}, false},
		{heap{now: 7 << 18, kept: 1 << 20, goal: 4 << 20}, false},
		{heap{now: 7<<18 + 1, kept: 1 << 20, goal: 4 << 20}, true},
		{heap{now: 1, kept: 1 << 20, goal: 4 << 20}, false}, // it is just being swept
	} {
		if c.heap.full() != c.full {
			t.Errorf("%+v: full is %t", c.heap, c.heap.full())
		}
	}
}
