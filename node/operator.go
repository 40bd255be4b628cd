package node

import (
	"context"
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ask is an operator's event and the way to tell that its Step is over.
type ask struct {
	event      algorithms.Event
	carriedOut chan struct{}
}

// Campaign calls an election. It returns once the Step was carried out, which
// is when the election begins, not when it ends. Errors wrap ErrStopped or the
// cause of ctx; after the latter it may still be carried out.
func (n *Node) Campaign(ctx context.Context, reason string) error {
	if err := n.ask(ctx, algorithms.Campaign{Reason: reason}); err != nil {
		return fmt.Errorf("call an election on node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// Resign steps down, in favour of to or, if that is zero, of the best one. It
// returns once the Step was carried out: the node no longer leads, but whether
// another does is for Watch to tell. Errors are as with Campaign.
func (n *Node) Resign(ctx context.Context, to proto.NodeID) error {
	if err := n.ask(ctx, algorithms.Resign{To: to}); err != nil {
		return fmt.Errorf("resign on node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// ask has ev carried out. Before Run it waits.
func (n *Node) ask(ctx context.Context, ev algorithms.Event) error {
	a := ask{event: ev, carriedOut: make(chan struct{})}
	select {
	case n.asks <- a:
	case <-n.ended:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-a.carriedOut:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.ended:
	}
	// The Node may have ended right after carrying it out.
	select {
	case <-a.carriedOut:
		return nil
	default:
		return ErrStopped
	}
}
