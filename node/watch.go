package node

import (
	"context"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Watch returns a channel of beliefs about the leader: first the current one, then each change, in
// order. A change is another leader, "nobody", another term or another end of the lease.
//
// The channel holds one belief. A slow reader misses some and gets the latest; Changes has all of
// them. A reader never gets an older belief after a newer one, and always gets the last one. A
// belief with an Until ends at that time, even if the reader gets nothing new.
//
// The channel is closed when ctx is done or the Node has ended; in the latter case the last belief
// is "nobody". Watch may be called from any goroutine.
func (n *Node) Watch(ctx context.Context) <-chan algorithms.Leader {
	ch := make(chan algorithms.Leader, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	ch <- n.status.Leader
	if isClosed(n.ended) {
		close(ch)
		return ch
	}
	n.watchers[ch] = context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.unwatch(ch)
	})
	return ch
}

// unwatch closes ch unless it is closed. The caller holds n.mu.
func (n *Node) unwatch(ch chan algorithms.Leader) {
	if _, ok := n.watchers[ch]; ok {
		delete(n.watchers, ch)
		close(ch)
	}
}

// believe makes l the current belief, and tells the watchers if the belief has changed. The parameter
// successor is the node to which this node handed leadership over; zero for none. The caller holds n.mu, so
// that only one goroutine at a time fills a channel.
func (n *Node) believe(l algorithms.Leader, successor proto.NodeID) {
	old := n.status.Leader
	n.status.Leader = l
	n.keepLeadership(l, successor)
	if l.Leadership() != old.Leadership() {
		now := time.Now()
		n.changes.add(l, now)
		if l.ID != 0 || old.ID != 0 {
			n.status.Since = now
		}
	}
	if l.Leadership() == old.Leadership() && l.Until.Equal(old.Until) {
		return
	}
	for ch := range n.watchers {
		select {
		case <-ch: // the reader did not take the one before: it is out of date
		default:
		}
		ch <- l
	}
}
