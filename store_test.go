package ringleader_test

import (
	"context"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// onStore is a node whose leadership stands on the store.
func onStore(t *testing.T, s *storetest.Memory, id ringleader.NodeID, join ...string) ringleader.Config {
	c := loopback(t, id)
	c.Voters, c.Store, c.Join, c.Lease, c.Profile = nil, s, join, 3*time.Second, "local"
	return c
}

// "With --store and one node, no gossip at all, it works too", and leadership is handed over in order.
func TestOnStore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, queues := range []bool{false, true} {
		s := &storetest.Memory{Queues: queues}
		one := start(t, onStore(t, s, 1))
		follows(ctx, t, one, 1)
		first := one.Leader()
		two := start(t, onStore(t, s, 2, one.GossipAddr()))
		follows(ctx, t, two, 1)
		if two.Leader().Term != first.Term || first.Term != 1 {
			t.Errorf("node 2 follows term %d, node 1 leads term %d", two.Leader().Term, first.Term)
		}
		if err := one.Transfer(ctx, 2, "test"); err != nil {
			t.Errorf("transfer: %v", err)
		}
		follows(ctx, t, one, 2)
		if next := two.Leader(); next.Term <= first.Term {
			t.Errorf("the token of node 2 is %d, after %d", next.Term, first.Term)
		}
		if err := two.Leave(); err != nil {
			t.Error(err)
		}
		follows(ctx, t, one, 1)
	}
}
