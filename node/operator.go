package node

import (
	"context"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ask is an operator's request, and the channels for its results.
type ask struct {
	event      algorithms.Event // nil if the request only waits for earlier ones to be heard
	carriedOut chan struct{}
	end        chan algorithms.TransferEnd // receives the result of a Transfer
	lend       chan<- lendEnd              // receives the result of a Lend
}

// Campaign calls an election. It returns when the Machine has taken the request; the election may
// go on after that. Errors wrap ErrStopped or the cause of ctx; in the latter case the Machine may
// still take the request. Campaign may be called from any goroutine.
func (n *Node) Campaign(ctx context.Context, reason string) error {
	if err := n.ask(ctx, algorithms.Campaign{Reason: reason}); err != nil {
		return fmt.Errorf("call an election on node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// Resign makes this node step down in favour of the node to. If to is zero or could not win, the best node
// that could win becomes the leader. This node asks the possible successors first, and leads on until one of
// them has said yes, for half a second at most. When Resign returns without an error, this node no longer
// leads; Watch tells when another node does. The text why says, for the record, who asks and for what reason.
// Errors are those of Campaign.
func (n *Node) Resign(ctx context.Context, to proto.NodeID, why string) error {
	successor := n.giveWay(ctx, to, why)
	if err := n.ask(ctx, algorithms.Resign{To: successor, Why: why}); err != nil {
		return fmt.Errorf("resign on node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// AwaitEligible returns when the Machine has taken what SetEligible and KeepFromStanding said
// before the call. Errors are those of Campaign.
func (n *Node) AwaitEligible(ctx context.Context) error {
	if err := n.ask(ctx, nil); err != nil {
		return fmt.Errorf("tell node %d: %w", n.cfg.ID, err)
	}
	return nil
}

// Transfer hands leadership over from this node, which must lead, to the node to or, if to is zero, to the
// best node that accepts. The leader asks the successor first. The text why says, for the record, who asks
// and for what reason. Transfer returns the new belief when the successor leads.
//
// Errors wrap ErrRefused if nothing changed, ErrNotTaken if another node leads instead, ErrStopped,
// or the cause of ctx; in the last case the transfer may still happen.
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

// offer gives a Transfer to the Machine, and returns its result.
func (n *Node) offer(
	ctx context.Context, request algorithms.Transfer,
) (end algorithms.TransferEnd, err error) {
	a := ask{event: request, carriedOut: make(chan struct{}), end: make(chan algorithms.TransferEnd, 1)}
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

// awaitTransfer waits until a term above the term before has a leader, and returns this leader. The error
// wraps ErrNotTaken if the leader is not the node to.
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

// mostAsking is how long a leader that is to step down looks for a successor at most.
const mostAsking = time.Second / 2

// giveWay makes this node hand over, if it leads under a lease: to the node to, or if that node could not
// win, to another node that could. It returns the successor, or to if there is no successor. Meanwhile this
// node leads on: for two round trips if the best node could win; at most for mostAsking, or for half of the
// time until ctx ends.
func (n *Node) giveWay(ctx context.Context, to proto.NodeID, why string) (successor proto.NodeID) {
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
	return s.Leader.ID == n.cfg.ID && s.Guarantee.Leases()
}

// ask gives ev to the Machine. It blocks until Run is called.
func (n *Node) ask(ctx context.Context, ev algorithms.Event) error {
	return n.carryOut(ctx, ask{event: ev, carriedOut: make(chan struct{})})
}

// give passes a to the Node's goroutine. If it returns an error, that goroutine never gets a.
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
	if isClosed(a.carriedOut) {
		return nil
	}
	return ErrStopped
}
