package ringleader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader"
)

// "ErrStopped: the node failed", and Lead calls f "until … the node ends": a node whose id is taken
// works no more, and no other node sees it any more. Its address is free again.
func TestANodeWhoseIDIsTakenLeadsNoMore(t *testing.T) {
	owner := start(t, loopback(t, 7))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	follows(ctx, t, owner, 7)

	c := loopback(t, 7)
	c.Join = []string{owner.GossipAddr()}
	c.ElectionBind = freeAddr(t)
	n, err := ringleader.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Lead(ctx, untilTold) }()
	select {
	case <-n.Done():
	case <-ctx.Done():
		t.Fatal("it never failed")
	}
	if err := n.Err(); !errors.Is(err, ringleader.ErrIDTaken) {
		t.Errorf("it failed with %v", err)
	}
	late, cancelLate := context.WithTimeout(ctx, 5*time.Second)
	defer cancelLate()
	err = n.Lead(late, func(_ context.Context, l ringleader.Lease) error {
		t.Errorf("it works after it failed, in term %v; valid: %v", l.Term(), l.Valid())
		return nil
	})
	if !errors.Is(err, ringleader.ErrStopped) {
		t.Errorf("Lead on a node that failed ended with %v", err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ringleader.ErrStopped) {
			t.Errorf("Lead ended with %v", err)
		}
	case <-late.Done():
		t.Error("Lead never returned")
	}
	if leader := n.Leader(); leader.ID != 0 {
		t.Errorf("it names %v as the leader", leader.ID)
	}
	if err := n.Leave(); err != nil {
		t.Error(err)
	}
	c.ID, c.Voters, c.DataDir = 8, []ringleader.NodeID{8}, t.TempDir()
	c.Join = nil
	start(t, c) // on the same address
}

// untilTold is work that ends when it is told to.
func untilTold(ctx context.Context, _ ringleader.Lease) error {
	<-ctx.Done()
	return nil
}

// "The context of f ends when … the node ends": two nodes with one id work, each alone, until a third
// one shows them to each other. The work of the one that has to end is told so, and its Lead returns.
func TestANodeThatFailsStopsItsWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type node struct {
		*ringleader.Node
		works chan struct{}
		told  error // read it after ended
		ended chan error
	}
	nodes := [2]*node{}
	third := loopback(t, 8)
	third.Voters = []ringleader.NodeID{7}
	for i := range nodes {
		n, err := ringleader.Start(ctx, loopback(t, 7))
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = &node{Node: n, works: make(chan struct{}), ended: make(chan error, 1)}
		third.Join = append(third.Join, n.GossipAddr())
		go func() {
			nodes[i].ended <- n.Lead(ctx, func(ctx context.Context, _ ringleader.Lease) error {
				close(nodes[i].works)
				<-ctx.Done()
				nodes[i].told = context.Cause(ctx)
				return nil
			})
		}()
	}
	for _, n := range nodes {
		<-n.works
	}
	start(t, third)
	failed, other := nodes[0], nodes[1]
	select {
	case <-nodes[0].Done():
	case <-nodes[1].Done():
		failed, other = other, failed
	}
	err := <-failed.ended
	if !errors.Is(failed.Err(), ringleader.ErrIDTaken) || !errors.Is(err, ringleader.ErrStopped) ||
		!errors.Is(failed.told, ringleader.ErrStopped) {
		t.Errorf("it failed with %v, its work was told %v, Lead returned %v", failed.Err(), failed.told, err)
	}
	if leader := other.Leader(); leader.ID != 7 || other.Err() != nil {
		t.Errorf("the other names %v as the leader, and failed with %v", leader.ID, other.Err())
	}
	if err := other.Leave(); err != nil {
		t.Error(err)
	}
}
