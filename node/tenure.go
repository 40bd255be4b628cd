package node

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Lease is one time in office, from Lead. Its methods may be called from any
// goroutine, also after it is over.
type Lease struct{ t *tenure }

// Term numbers the time in office. Under a guarantee of lease it is the fencing
// token: a store that has seen a higher one must refuse what carries this.
func (l Lease) Term() proto.Term { return l.t.term }

// Valid reports whether this node leads at this instant. It reads Config.Now, which
// should go on in suspend as that of package clock does, and costs little enough to be
// asked before every act. What is begun after it may still overtake the end of the
// lease: only a fencing token helps there. Under a best-effort guarantee it means no
// more than that this node has heard of no other leader.
func (l Lease) Valid() bool { return l.t.valid() }

// Until is when the lease ends unless it is renewed, by the Node's clock; zero
// under a best-effort guarantee, which has no lease, and once it is over.
func (l Lease) Until() time.Time {
	if until := l.t.until.Load(); until != 0 && until != forever {
		return time.Unix(0, until)
	}
	return time.Time{}
}

// forever marks a tenure without a lease.
const forever = 1<<63 - 1

// tenure is the time during which this node leads one term, or, when its work was told to
// stop because the lease was about to end and the lease was renewed after all, a part of
// that: the next part begins once all work of this one has returned.
//
// Invariants:
//  1. Once over, no work begins: so what waits for the work waits for all of it.
//  2. ctx is done only when over.
type tenure struct {
	term  proto.Term
	first *tenure // of the term's parts
	now   func() time.Time
	until atomic.Int64 // by now, in nanoseconds; 0 once it is over
	ctx   context.Context
	// cancel ends ctx.
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // the functions given to Lead

	mu        sync.Mutex  // guards what follows
	over      bool        // nothing begins any more
	lease     int         // counts the ends that the lease was given
	stopper   *time.Timer // ends the work before the lease can end; nil without one
	continued bool        // n.resume waits for the work's end
}

// newTenure is the time in office that l names. It goes on after before, nil for none.
func newTenure(l algorithms.Leader, now func() time.Time, before *tenure) *tenure {
	t := &tenure{term: l.Term, now: now}
	t.first = t
	if before != nil {
		t.first = before.first
	}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.extend(l)
	return t
}

func (t *tenure) valid() bool {
	switch until := t.until.Load(); {
	case until == forever, until != 0 && t.now().UnixNano() < until:
		return true
	case until == 0:
		return false
	}
	// A renewal may be under way. Once this has been false it stays so: see extend.
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ranOut()
}

// ranOut reports whether the lease has ended. The caller holds t.mu.
func (t *tenure) ranOut() bool {
	until := t.until.Load()
	return until != forever && t.now().UnixNano() >= until
}

// extend takes over the lease's new end, and reports false when its work has been told
// to stop before. That happens when a tenth of the remaining time is left.
func (t *tenure) extend(l algorithms.Leader) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	if l.Until.IsZero() {
		t.until.Store(forever)
		return true
	}
	if t.until.Load() != 0 && t.ranOut() { // somebody may have been told so
		t.over = true
		t.cancel(ErrLeaseExpired)
		return false
	}
	t.until.Store(l.Until.UnixNano())
	left := l.Until.Sub(t.now())
	left -= left / 10
	if t.stopper != nil {
		t.stopper.Stop()
	}
	t.lease++
	lease := t.lease
	t.stopper = time.AfterFunc(left, func() { t.expire(lease) })
	return true
}

// expire tells the work to stop, unless the lease was renewed meanwhile.
func (t *tenure) expire(lease int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease == lease && !t.over {
		t.over = true
		t.cancel(ErrLeaseExpired)
	}
}

// enter reports whether work may begin; exit must follow it then.
func (t *tenure) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.work.Add(1)
	return true
}

// end says that this node leads no more: nothing begins any more, and what goes
// on is told to stop, and why.
func (t *tenure) end(why error) {
	t.until.Store(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.stopper != nil {
		t.stopper.Stop()
	}
	t.cancel(why)
}

// continues reports whether to wait for the end of the work and then go on: once.
func (t *tenure) continues() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.continued
	t.continued = true
	return !was
}

// Lead calls f each time this node becomes the leader, until ctx is done, f
// returns an error, or the Node ends. The context that f gets ends when this node
// leads no more, when the lease is about to end unrenewed, with the Node, or with
// ctx; its cause says which. Nothing that f has to return for, as Run and the
// Transport's Close, may be waited for in f.
//
// f must return soon after that: under a lease the office is given free for
// others only once every f has returned, and by itself when the lease has ended. A lease
// that is renewed after f was told to stop is not lost: f is called again, in the same
// term, once every f has returned. When f returns nil before it is told to stop, Lead
// waits for the next term.
//
// The error is f's own, the cause of ctx, or wraps ErrStopped. Several
// goroutines may call Lead, each with an f of its own.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	var last, done *tenure
	for {
		t, err := n.awaitTenure(ctx, last)
		if err != nil {
			return fmt.Errorf("lead on node %d: %w", n.cfg.ID, err)
		}
		last = t
		if t.first == done || !t.enter() {
			continue
		}
		told, err := t.run(ctx, f)
		if err != nil {
			return err
		}
		if !told {
			done = t.first
		}
	}
}

// run calls f under a context that ends with ctx or the tenure, and reports whether it
// was told to stop.
func (t *tenure) run(ctx context.Context, f func(context.Context, Lease) error) (told bool, err error) {
	defer t.work.Done()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	defer stop()
	err = f(inner, Lease{t})
	return inner.Err() != nil, err
}

// awaitTenure returns the present tenure once it is another than last.
func (n *Node) awaitTenure(ctx context.Context, last *tenure) (*tenure, error) {
	for {
		n.mu.Lock()
		t, changed := n.tenure, n.tenures
		n.mu.Unlock()
		if t != nil && t != last {
			return t, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-n.ended:
			return nil, ErrStopped
		}
	}
}

// sayIdle tells the loop, or drain, once the work of a tenure has stopped.
func (n *Node) sayIdle(t *tenure) {
	t.work.Wait()
	if !n.awaitLoans(t.term) {
		n.idle <- 0 // of no term: voters keep their promises for what is lent still
		return
	}
	n.idle <- t.term
}

// HandedOver is the cause with which the context of Lead's function ends when this
// node handed leadership to a successor that it had asked: an operator wanted it, or this
// node resigned, was paused or fell ill.
type HandedOver struct{ To proto.NodeID }

func (h HandedOver) Error() string { return fmt.Sprintf("leadership was handed to node %d", h.To) }

// Unwrap makes it count as ErrNotLeader.
func (HandedOver) Unwrap() error { return ErrNotLeader }

// successorIn is the node to which a Step handed leadership, zero for none.
func successorIn(out algorithms.Output) proto.NodeID {
	if end := out.Transfer; end != nil && end.Refused == "" {
		return end.To
	}
	return 0
}

// whyOver is why a leadership ended before its lease.
func whyOver(next algorithms.Leader, successor proto.NodeID) error {
	switch {
	case successor != 0:
		return HandedOver{successor}
	case next.ID != 0:
		return fmt.Errorf("%w: node %d leads term %d", ErrNotLeader, next.ID, next.Term)
	}
	return ErrNotLeader
}

// keepTenure follows the belief: it begins, extends or ends this node's time as
// the leader. successor is as with believe. The caller holds n.mu.
func (n *Node) keepTenure(l algorithms.Leader, successor proto.NodeID) {
	leads := l.ID == n.cfg.ID
	t := n.tenure
	switch {
	case t != nil && leads && t.term == l.Term:
		if !t.extend(l) && t.continues() {
			go n.resume(t)
		}
		return
	case t == nil && !leads:
		return
	}
	if t != nil {
		t.end(whyOver(l, successor))
		n.draining++
		go n.sayIdle(t)
	}
	n.tenure = nil
	if leads {
		n.beginTenure(l, nil)
	}
}

// resume lets work begin again in the term of t once that which was told to stop has
// returned, if this node leads it still.
func (n *Node) resume(t *tenure) {
	t.work.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tenure == t {
		t.until.Store(0) // a Lease belongs to its part of the term
		n.beginTenure(n.status.Leader, t)
	}
}

// beginTenure lets work begin. The caller holds n.mu.
func (n *Node) beginTenure(l algorithms.Leader, before *tenure) {
	n.tenure = newTenure(l, n.cfg.Now, before)
	close(n.tenures)
	n.tenures = make(chan struct{})
}
