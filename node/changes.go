package node

import (
	"context"
	"iter"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Change is one change of the belief about who leads: another leader, nobody, or
// another term. A lease that is renewed is none.
type Change struct {
	// Seq numbers the changes of this process from 1: no gap means that nothing is
	// missing.
	Seq uint64
	// At is the wall clock's time of the change.
	At time.Time
	// Leader is the belief from then on. Its Until is the lease's end as it was at
	// the change.
	Leader algorithms.Leader
	// Missed is how many changes right before this one the reader did not get: it was
	// slow, and only the last ones are kept.
	Missed uint64
}

// keptChanges is how many of the last changes are kept for readers that are slow, or
// come back.
const keptChanges = 1024

// changes are the last ones.
//
// Invariants:
//  1. list is in the order of Seq, without a gap, and its last is number last.
//  2. list has at most keptChanges.
type changes struct {
	list []Change
	last uint64
	wake chan struct{} // closed and replaced with each change
}

func (c *changes) add(l algorithms.Leader, at time.Time) {
	c.last++
	if len(c.list) == keptChanges {
		c.list = append(c.list[:0:0], c.list[1:]...)
	}
	c.list = append(c.list, Change{Seq: c.last, At: at, Leader: l})
	if c.wake != nil {
		close(c.wake)
		c.wake = nil
	}
}

// after returns the first change after number seq; ok is false when there is none
// yet, and wake is closed with the next one then.
func (c *changes) after(seq uint64) (next Change, wake <-chan struct{}, ok bool) {
	if seq >= c.last {
		if c.wake == nil {
			c.wake = make(chan struct{})
		}
		return Change{}, c.wake, false
	}
	oldest := c.list[0].Seq
	if seq+1 < oldest {
		next = c.list[0]
		next.Missed = oldest - seq - 1
		return next, nil, true
	}
	return c.list[seq+1-oldest], nil, true
}

// Changes returns the changes after number seq, each once, in order, and those to
// come. Zero means all: the first is the first leader that was known. Whoever comes
// back goes on after the last Seq that it got; LastChange is where to begin when
// only what is to come matters.
//
// Nothing is lost but what Missed counts: the last 1024 changes are kept, for every
// reader, however slow. The sequence ends when ctx is done, and after the last
// change, to "nobody", when the Node has ended.
func (n *Node) Changes(ctx context.Context, seq uint64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for ctx.Err() == nil {
			n.mu.Lock()
			next, wake, ok := n.changes.after(seq)
			n.mu.Unlock()
			if ok {
				seq = next.Seq
				if !yield(next) {
					return
				}
				continue
			}
			select {
			case <-wake:
			case <-ctx.Done():
			case <-n.ended:
				if n.LastChange() <= seq {
					return
				}
			}
		}
	}
}

// LastChange is the number of the last change; zero before the first.
func (n *Node) LastChange() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changes.last
}
