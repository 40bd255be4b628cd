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

// Loan is a lease that this node has lent to a process outside.
type Loan struct {
	// ID is of this process's loans, and no other process of the node lends by it: who comes
	// late with a former one's gives back nothing of this one. It is less than 2^53.
	ID uint64
	// Term is what this node leads.
	Term proto.Term
	// For is how long whoever borrowed the lease may act as the leader, by any clock,
	// counted from a moment before it asked for it.
	For time.Duration
	// Until is when that has passed by every clock, by the Node's own: no other node
	// leads before, unless Return comes first.
	Until time.Time
}

// loans are those of a Node.
type loans struct {
	last    uint64
	out     map[uint64]Loan // neither given back nor, when last looked, over
	changed chan struct{}   // closed and replaced when one is given back
	asking  []chan<- lendEnd
}

// loansBefore is what the ids of a process's loans come after: 40 random bits.
func loansBefore(s proto.Session) uint64 { return binary.BigEndian.Uint64(s[:8]) >> 24 }

// lendEnd is what came of a Lend.
type lendEnd struct {
	Loan
	refused string
}

// Lend lends the lease of this node, which must lead, to a process outside of this one,
// for the rest of it. The voters know of it before Lend returns, and from then on no
// other node leads before the loan's end: not when this one is killed, nor when it hands
// over. That is its price: a leader that dies, or leaves, while a loan lasts is not
// replaced before its end, at most a promise later. Return gives it back early. Who
// needs it for longer borrows again before its end. It may be lent to several at a time,
// whom it does not keep off each other.
//
// Errors wrap ErrNotLent when this node does not lead, hands over, or has no voters;
// ErrStopped; or the cause of ctx.
func (n *Node) Lend(ctx context.Context) (Loan, error) {
	l, err := n.lend(ctx)
	if err != nil {
		return l, fmt.Errorf("lend the lease of node %d: %w", n.cfg.ID, err)
	}
	return l, nil
}

func (n *Node) lend(ctx context.Context) (Loan, error) {
	if n.cfg.Guarantee != algorithms.Lease {
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

// takeBack gives back what comes after whoever asked for it has left.
func (n *Node) takeBack(end <-chan lendEnd) {
	select {
	case e := <-end:
		n.Return(e.ID)
	case <-n.ended:
	}
}

// Return gives a loan back before its end, and reports whether it had not ended. Whoever
// borrowed it must not act on it any more.
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

// lent tells those who asked for a lease what came of it.
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
		case n.tenure == nil:
			end <- lendEnd{refused: "the lease ran out"}
		default:
			n.loans.last++
			l := Loan{ID: n.loans.last, Term: n.tenure.term, For: was.For, Until: was.Until}
			n.loans.out[l.ID] = l
			end <- lendEnd{Loan: l}
		}
	}
	n.loans.asking = nil
}

// endLoans forgets those that have ended. The caller holds n.mu.
func (n *Node) endLoans() {
	now := n.cfg.Now()
	for id, l := range n.loans.out {
		if !now.Before(l.Until) {
			delete(n.loans.out, id)
		}
	}
}

// awaitLoans reports whether all that was lent in a term has ended or was given back: once
// it has, or the Node has ended. Nobody waits for a process outside to close the Transport.
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
