package node

import (
	"context"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ask is an operator's event and the way to tell that its Step is over.
type ask struct {
	event      algorithms.Event // nil for none: what was said before has been heard
	carriedOut chan struct{}
	end        chan algorithms.TransferEnd // of a Transfer
	lend       chan<- lendEnd              // of a Lend
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

// Resign steps down, in favour of to or, if that is zero or could not win, of the best one
// that could: they are asked first, and the node leads on until one said yes, for half a
// second at most. It returns once the Step was carried out: the node no longer leads, but
// whether another does is for Watch to tell. Errors are as with Campaign.
func (n *Node) Resign(ctx context.Context, to proto.NodeID) error {
	heir := n.giveWay(ctx, to, "this node resigns")
	if err := n.ask(ctx, algorithms.Resign{To: heir}); err != nil {
		return fmt.Errorf("resign on node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// Heard returns once the Machine has heard what SetEligible and KeepFromStanding
// said before the call. Errors are as with Campaign.
func (n *Node) Heard(ctx context.Context) error {
	if err := n.ask(ctx, nil); err != nil {
		return fmt.Errorf("tell node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// Transfer hands leadership over, from this node, which must lead, to to or, if
// that is zero, to the best node that would. The successor is asked first. why is
// who asks, and what for, for the record. It returns the new belief once the
// successor leads.
//
// Errors wrap ErrRefused when nothing changed, ErrNotTaken when another leads
// instead, ErrStopped, or the cause of ctx; after the latter it may still come to
// the transfer.
func (n *Node) Transfer(
	ctx context.Context, to proto.NodeID, why string,
) (algorithms.Leader, error) {
	l, err := n.handOver(ctx, to, why)
	if err != nil {
		return l, fmt.Errorf("transfer leadership from node %d: %w", n.cfg.ID, err)
	}
	return l, nil
}

func (n *Node) handOver(
	ctx context.Context, to proto.NodeID, why string,
) (algorithms.Leader, error) {
	before := n.Status().Leader.Term
	end, err := n.offer(ctx, algorithms.Transfer{To: to, Why: why})
	if err != nil {
		return algorithms.Leader{}, err
	}
	if end.Refused != "" && end.To == 0 {
		return algorithms.Leader{}, fmt.Errorf("%w: %s", ErrRefused, end.Refused)
	}
	if end.Refused != "" {
		return algorithms.Leader{}, fmt.Errorf("%w to node %d: %s", ErrRefused, end.To, end.Refused)
	}
	return n.awaitTransfer(ctx, before, end.To)
}

// offer has a Transfer carried out, and returns what came of it.
func (n *Node) offer(
	ctx context.Context, wish algorithms.Transfer,
) (end algorithms.TransferEnd, err error) {
	a := ask{event: wish, carriedOut: make(chan struct{}), end: make(chan algorithms.TransferEnd, 1)}
	if err := n.carryOut(ctx, a); err != nil {
		return end, err
	}
	select {
	case end = <-a.end:
		return end, nil
	case <-n.ended:
		return end, ErrStopped
	case <-ctx.Done():
		return end, context.Cause(ctx)
	}
}

// awaitTransfer returns the leader of a term above before. In the end it is to, if
// all goes well.
func (n *Node) awaitTransfer(
	ctx context.Context, before proto.Term, to proto.NodeID,
) (algorithms.Leader, error) {
	watch, stop := context.WithCancel(ctx)
	defer stop()
	for l := range n.Watch(watch) {
		switch {
		case l.ID == 0 || l.Term <= before:
		case l.ID == to:
			return l, nil
		default:
			return l, fmt.Errorf("%w: node %d was told to, and node %d leads; ask again if node %d shall",
				ErrNotTaken, to, l.ID, to)
		}
	}
	if ctx.Err() != nil {
		return algorithms.Leader{}, context.Cause(ctx)
	}
	return algorithms.Leader{}, ErrStopped
}

// mostAsking is how long a leader that is to leave looks for a successor at most.
const mostAsking = time.Second / 2

// giveWay has this node, if it leads because a majority decided so, hand over to a node that
// could win, to to if that could, and returns to whom; or to. It leads on meanwhile: for two
// round trips where the best node could win, and for mostAsking, or half of the time that
// ctx leaves, at most.
func (n *Node) giveWay(ctx context.Context, to proto.NodeID, why string) (heir proto.NodeID) {
	if !n.leadsByVotes() {
		return to
	}
	most := mostAsking
	if until, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(until)/2)
	}
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	end, err := n.offer(ctx, algorithms.Transfer{To: to, Why: why, Leaves: true})
	if err != nil || end.Refused != "" {
		return to
	}
	return end.To
}

func (n *Node) leadsByVotes() bool {
	s := n.Status()
	return s.Leader.ID == n.cfg.ID && s.Guarantee == algorithms.Lease
}

// ask has ev carried out. Before Run it waits.
func (n *Node) ask(ctx context.Context, ev algorithms.Event) error {
	return n.carryOut(ctx, ask{event: ev, carriedOut: make(chan struct{})})
}

// give returns once the loop has taken a. After an error it never will.
func (n *Node) give(ctx context.Context, a ask) error {
	select {
	case n.asks <- a:
		return nil
	case <-n.ended:
		return ErrStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (n *Node) carryOut(ctx context.Context, a ask) error {
	if err := n.give(ctx, a); err != nil {
		return err
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
