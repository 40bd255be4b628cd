package main

import (
	"context"
	"sync/atomic"

	"github.com/ringleader-dev/ringleader"
)

// partition cuts five nodes into three and two, and counts how many lead at once.
//
// Without voters that is the bad way: `if ping(other_nodes): am_leader = True`. With voters it is the right one:
// "Require quorum … Accept that minority partition can't elect leader".
func partition(dir string, voters []ringleader.NodeID) (leaders int) {
	whole := side(dir, voters, 1, 2, 3, 4, 5)
	for _, n := range whole {
		for leader := range n.Watch(context.Background()) {
			if leader.ID != 0 {
				break // it knows the leader of all
			}
		}
	}
	leave(whole...)

	var leading [2]atomic.Int32 // of the leaders, on each side
	changed := make(chan bool, 1)
	sides := [2][]*ringleader.Node{side(dir, voters, 1, 2, 3), side(dir, voters, 4, 5)}
	for i, nodes := range sides {
		defer leave(nodes...)
		for _, n := range nodes {
			whenLeading(n, func(ctx context.Context, _ ringleader.Lease) {
				leading[i].Add(1)
				select {
				case changed <- true:
				default:
				}
				<-ctx.Done()
				leading[i].Add(-1)
			})
		}
	}
	// Until both sides have a leader, or the greater side's lease was renewed so often that the other had its chance.
	renewals := sides[0][0].Watch(context.Background())
	for heard := 0; leaders < 2 && heard < 10; {
		select {
		case leader := <-renewals:
			if leader.ID != 0 {
				heard++
			}
		case <-changed:
		}
		leaders = int(min(leading[0].Load(), 1) + min(leading[1].Load(), 1))
	}
	return leaders
}
