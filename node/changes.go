package node

import (
	"context"
	"iter"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Change is one change of the belief about who leads: to another leader, to nobody, or to another
// term. The renewal of a lease is no change.
type Change struct {
	// Seq numbers the changes of this process, from 1. A gap means that changes are missing.
	Seq uint64
	// At is the time of the change, by the wall clock.
	At time.Time
	// Leader is the belief from this change on. Its Until is the end of the lease as known at the
	// time of the change.
	Leader algorithms.Leader
	// Missed is how many changes just before this one the reader did not get: the reader was slow, and only
	// the latest changes are kept.
	Missed uint64
}

// keptChanges is how many changes are kept for readers that are slow or come back.
const keptChanges = 1024

// changes are the last changes of a Node, which guards them by its mutex.
//
// Invariants: 1. list is in the order of Seq, without a gap, and ends with the change number last.
// 2. list has at most keptChanges entries.
type changes struct {
	list []Change
	last uint64
	wake chan struct{} // closed and replaced after each change
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

// after returns the first change after number seq. If there is no such change yet, ok is false, and the
// channel wake is closed when the next change comes.
func (c *changes) after(seq uint64) (next Change, wake <-chan struct{}, ok bool) {
	if seq > c.last { // a number of a former process, whose changes are not numbered on
		seq = 0
	}
	if seq == c.last {
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

// Changes yields the changes after number seq, each once and in order, and goes on with the changes to come.
// If seq is zero, it begins with the first leader that was known. A reader that comes back continues after
// the last Seq that it got. A reader that wants only the changes to come begins with LastChange. A number
// above the last one is from a former process: the reader gets all changes of this one.
//
// The last 1024 changes are kept for every reader, however slow. Change.Missed counts the changes that a
// reader lost. The sequence ends when ctx is done, and after the last change, to "nobody", when the Node has
// ended. Changes may be called from any goroutine.
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

// LastChange returns the number of the last change; zero before the first.
func (n *Node) LastChange() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changes.last
}
