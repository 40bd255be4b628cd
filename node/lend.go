package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrNotLent says that no lease was lent.
var ErrNotLent = errors.New("no lease was lent")

// Loan is a lease that this node has lent to another process.
type Loan struct {
	// ID identifies the loan. No other process of the node uses the same id, so that a caller who
	// returns a loan of an earlier process does not end one of this process. It is less than 2^53.
	ID uint64
	// Term is the term that this node leads.
	Term proto.Term
	// For is how long the borrower may act as the leader, by any clock. The borrower counts it from
	// a moment before it asked.
	For time.Duration
	// Until is the time, by the Node's own clock, when For has passed even by the slowest clock. No other
	// node leads before that time, unless Return is called first.
	Until time.Time
}

// loans are the loans of a Node.
type loans struct {
	last    uint64
	out     map[uint64]Loan // loans that were not returned, and had not ended at the last call of endLoans
	changed chan struct{}   // closed and replaced when a loan is returned
	asking  []chan<- lendEnd
}

// loansBefore returns the number after which the ids of a process's loans begin. It has 40 random bits.
func loansBefore(s proto.Incarnation) uint64 { return binary.BigEndian.Uint64(s[:8]) >> 24 }

// lendEnd is the result of a call of Lend.
type lendEnd struct {
	Loan
	refused string
}

// Lend lends the lease of this node, which must lead, to another process, for the rest of the lease. The
// voters know of the loan before Lend returns, and from then on no other node leads before the end of the
// loan: not if this node is killed, and not if it hands over. The price is that a leader that dies or leaves
// is not replaced before the end of the loan, at most a promise later. Return ends the loan early. A borrower
// that needs more time borrows again before the end. The lease may be lent to several borrowers at a time;
// the lease does not keep them from acting at the same time. Lend may be called from any goroutine.
//
// Errors wrap ErrNotLent when this node does not lead, hands over, or has no voters; ErrStopped; or
// the cause of ctx.
func (n *Node) Lend(ctx context.Context) (Loan, error) {
	l, err := n.lend(ctx)
	if err != nil {
		return l, fmt.Errorf("lend the lease of node %d: %w", n.cfg.ID, err)
	}
	return l, nil
}

func (n *Node) lend(ctx context.Context) (Loan, error) {
	if !n.cfg.Guarantee.Leases() {
		return Loan{}, fmt.Errorf("%w: without voters there is no lease, only the guarantee %s",
			ErrNotLent, n.cfg.Guarantee)
	}
	end := make(chan lendEnd, 1)
	a := ask{event: algorithms.Lend{}, carriedOut: make(chan struct{}), lend: end}
	if err := n.give(ctx, a); err != nil {
		return Loan{}, err
	}
	select {
	case e := <-end:
		if e.refused != "" {
			return Loan{}, fmt.Errorf("%w: %s", ErrNotLent, e.refused)
		}
		return e.Loan, nil
	case <-n.ended:
		return Loan{}, ErrStopped
	case <-ctx.Done():
		go n.takeBack(end)
		return Loan{}, context.Cause(ctx)
	}
}

// takeBack returns a loan that was granted after the caller of Lend gave up.
func (n *Node) takeBack(end <-chan lendEnd) {
	select {
	case e := <-end:
		n.Return(e.ID)
	case <-n.ended:
	}
}

// Return ends a loan early. It returns false if the loan had ended. The borrower must no longer act on the
// loan.
func (n *Node) Return(id uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endLoans()
	_, ok := n.loans.out[id]
	delete(n.loans.out, id)
	if ok {
		close(n.loans.changed)
		n.loans.changed = make(chan struct{})
	}
	return ok
}

// lent answers all callers of Lend with the result that a Step returned; nil means that the Step has none.
func (n *Node) lent(was *algorithms.LendEnd) {
	if was == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endLoans()
	for _, end := range n.loans.asking { // each has room for one
		switch {
		case was.Refused != "":
			end <- lendEnd{refused: was.Refused}
		case n.leadership == nil:
			end <- lendEnd{refused: "the lease ran out"}
		default:
			n.loans.last++
			l := Loan{ID: n.loans.last, Term: n.leadership.term, For: was.For, Until: was.Until}
			n.loans.out[l.ID] = l
			end <- lendEnd{Loan: l}
		}
	}
	n.loans.asking = nil
}

// endLoans forgets the loans that have ended. The caller holds n.mu.
func (n *Node) endLoans() {
	now := n.cfg.Now()
	for id, l := range n.loans.out {
		if !now.Before(l.Until) {
			delete(n.loans.out, id)
		}
	}
}

// awaitLoans waits until all loans of a term have ended or were returned, and then returns true. It
// returns false when the Node has ended: closing the Transport does not wait for other processes.
func (n *Node) awaitLoans(term proto.Term) bool {
	for {
		n.mu.Lock()
		n.endLoans()
		var until time.Time
		for _, l := range n.loans.out {
			if l.Term == term && l.Until.After(until) {
				until = l.Until
			}
		}
		changed := n.loans.changed
		n.mu.Unlock()
		if until.IsZero() {
			return true
		}
		if isClosed(n.ended) {
			return false
		}
		over := time.NewTimer(until.Sub(n.cfg.Now()))
		select {
		case <-over.C: // by a clock that may stand still in suspend: look again
		case <-changed:
		case <-n.ended:
		}
		over.Stop()
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
