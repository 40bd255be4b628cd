package node_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/proto"
)

// memory keeps a node's state for as long as an example runs. A real node keeps it
// in a statefile.
type memory struct{}

func (memory) Save(algorithms.State) error { return nil }

// nowhere is the transport of a node that has nobody to talk to.
type nowhere struct{}

func (nowhere) Send(proto.Message) {}

func (nowhere) Hold() (<-chan struct{}, func()) { return nil, func() {} }

// alone is a running node that is the only voter of its cluster, and what ends it.
func alone() (*node.Node, context.CancelFunc) {
	var incarnation proto.Incarnation
	_, _ = rand.Read(incarnation[:]) // never fails
	const delta = time.Millisecond
	n, err := node.New(node.Config{
		ID: 1, Incarnation: incarnation, Disk: memory{}, Transport: nowhere{},
		Guarantee: algorithms.Lease,
		Machine: lease.New(algorithms.Config{
			Self: 1, Incarnation: incarnation, Delta: delta, Voters: []proto.NodeID{1},
			Promise: time.Second,
		}, highest.New),
		Recorder: trace.NewRecorder(trace.RecorderConfig{Node: 1, Incarnation: incarnation}),
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { _ = n.Run(ctx) }()
	n.PeersChanged([]proto.Peer{{ID: 1, Incarnation: incarnation}}, "")
	return n, stop
}

// A function that runs only while this node leads. Its context ends before the lease
// can; nobody else leads before it has returned.
func ExampleNode_Lead() {
	n, stop := alone()
	defer stop()
	done := errors.New("done")
	err := n.Lead(context.Background(), func(ctx context.Context, l node.Lease) error {
		fmt.Println("leading term", l.Term())
		// Work, and return when ctx is over. An error ends Lead.
		return done
	})
	fmt.Println(err == done)
	// Output:
	// leading term 1
	// true
}

// Valid is cheap enough to be asked before every act. A storage that checks the term
// as a token covers what remains: a pause between the two.
func ExampleLease_Valid() {
	n, stop := alone()
	defer stop()
	_ = n.Lead(context.Background(), func(_ context.Context, l node.Lease) error {
		fmt.Println("before:", l.Valid())
		if err := n.Resign(context.Background(), 0, "told to stop"); err != nil {
			return err
		}
		fmt.Println("after:", l.Valid())
		return errors.New("enough")
	})
	// Output:
	// before: true
	// after: false
}

// Who wants to know who leads now, and not who led in between, watches.
func ExampleNode_Watch() {
	n, stop := alone()
	for l := range n.Watch(context.Background()) {
		if l.ID == 0 {
			continue // nobody, for now
		}
		fmt.Println("node", l.ID, "leads term", l.Term)
		stop() // which ends the channel, too
	}
	// Output:
	// node 1 leads term 1
}

// Who must not miss a change reads all of them, and goes on after the last one it
// got when it comes back.
func ExampleNode_Changes() {
	n, stop := alone()
	defer stop()
	for c := range n.Changes(context.Background(), 0) {
		if c.Missed > 0 {
			fmt.Println(c.Missed, "changes are lost")
		}
		if c.Leader.ID != 0 {
			fmt.Printf("node %d leads term %d\n", c.Leader.ID, c.Leader.Term)
			break
		}
	}
	// Output:
	// node 1 leads term 1
}
