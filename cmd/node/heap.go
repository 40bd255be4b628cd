package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// smallHeap keeps the heap of a node small, unless the user set GOGC: see collectEarly. When a small process dies, the
// kernel frees its memory sooner and so closes its connections sooner: the peers notice it earlier.
//
// It also gives back what the start of the process left behind, of the clients of stores above all. That
// takes a millisecond or two, so it comes before the node opens anything: nobody waits for it yet.
func smallHeap() {
	if os.Getenv("GOGC") == "" {
		go collectEarly(time.Tick(time.Second))
	}
	debug.FreeOSMemory()
}

// collectEarly collects garbage at each tick at which a quarter of the room is used that the heap has until Go collects
// by itself. An election allocates much within milliseconds: without collectEarly, many an election uses up the room,
// and waits a millisecond or two for the collector. A waiting node allocates little, so this happens seldom.
func collectEarly(ticks <-chan time.Time) {
	for range ticks {
		if readHeap().full() {
			runtime.GC()
		}
	}
}

// heap is how much memory objects occupy, in bytes.
type heap struct {
	now  uint64
	kept uint64 // by the latest collection
	goal uint64 // at which Go collects by itself
}

func readHeap() heap {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"},
	}
	metrics.Read(s)
	return heap{s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()}
}

// full reports whether a quarter of the room is used.
func (h heap) full() bool { return h.now > h.kept && h.now-h.kept > (h.goal-h.kept)/4 }
