package main

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader"
)

// steps are the faults: by how much the clock of which of three machines is set, while machine 0 leads and
// cannot renew its lease.
var steps = []struct {
	machine int
	by      time.Duration
}{{0, -time.Hour}, {0, time.Hour}, {1, -time.Hour}, {1, time.Hour}, {2, time.Hour}}

// clockDecides is the bad way: `if lease_expiry > now(): am_leader = True`, each by its own clock. It counts
// the faults with which two led at once.
func clockDecides() (twice int) {
	const lease, never = 10 * time.Second, time.Duration(math.MinInt64)
	for _, step := range steps {
		var clock [3]time.Duration // what they tell: all began at 0
		clock[step.machine] += step.by
		expiry := [3]time.Duration{lease, never, never} // until when each may lead
		present, most := expiry[0], 0                   // the store tells everybody when the present lease ends
		for range 2 * lease / time.Second {
			leaders := 0
			for i, now := range clock {
				if i > 0 && now >= present {
					present = now + lease
					expiry[i] = present
				}
				if expiry[i] > now {
					leaders++
				}
				clock[i] += time.Second
			}
			most = max(most, leaders)
		}
		if most > 1 {
			twice++
		}
	}
	return twice
}

// votesDecide is the right way: "Use distributed consensus". A majority grants the lease, and everybody measures
// how much time passes: there is no clock in it that could be set. With each of the faults another leads.
func votesDecide(dir string) (twice int) {
	nodes := side(dir, []ringleader.NodeID{1, 2, 3}, 1, 2, 3)
	defer leave(nodes...)
	var held [3]atomic.Pointer[ringleader.Lease]
	begins := make(chan int, len(steps)+1)
	for i, n := range nodes {
		whenLeading(n, func(_ context.Context, lease ringleader.Lease) {
			held[i].Store(&lease)
			begins <- i
		})
	}
	first := <-begins
	for range steps {
		_ = nodes[first].Resign(context.Background(), "it cannot renew its lease")
		second := <-begins
		leaders := 0
		for i := range held {
			if lease := held[i].Load(); lease != nil && lease.Valid() {
				leaders++
			}
		}
		if leaders > 1 {
			twice++
		}
		_ = nodes[first].Resume(context.Background())
		first = second
	}
	return twice
}
