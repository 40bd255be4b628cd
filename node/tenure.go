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

// tenure is the time during which this node leads one term.
type tenure struct {
	term    proto.Term
	now     func() time.Time
	until   atomic.Int64 // by now, in nanoseconds; 0 once it is over
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopper *time.Timer // cancels ctx before the lease can end; nil without one

	mu   sync.Mutex
	over bool
	work sync.WaitGroup // the functions given to Lead
}

func newTenure(l algorithms.Leader, now func() time.Time) *tenure {
	t := &tenure{term: l.Term, now: now}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.extend(l)
	return t
}

func (t *tenure) valid() bool {
	until := t.until.Load()
	return until == forever || until != 0 && t.now().UnixNano() < until
}

// extend takes over the lease's new end. Work is told to stop a tenth of the
// remaining time before that.
func (t *tenure) extend(l algorithms.Leader) {
	if l.Until.IsZero() {
		t.until.Store(forever)
		return
	}
	t.until.Store(l.Until.UnixNano())
	left := l.Until.Sub(t.now())
	left -= left / 10
	if t.stopper == nil {
		t.stopper = time.AfterFunc(left, func() { t.cancel(ErrLeaseExpired) })
		return
	}
	t.stopper.Reset(left)
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
// on is told to stop.
func (t *tenure) end() {
	t.until.Store(0)
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	if t.stopper != nil {
		t.stopper.Stop()
	}
	t.cancel(ErrNotLeader)
}

// Lead calls f each time this node becomes the leader, until ctx is done, f
// returns an error, or the Node ends. The context that f gets ends when this node
// leads no more, when the lease is about to end unrenewed, or with ctx; its cause
// says which.
//
// f must return soon after that: under a lease the office is given free for
// others only once every f has returned, and by itself when the lease has ended.
// When f returns nil while this node still leads, Lead waits for the next time.
//
// The error is f's own, the cause of ctx, or wraps ErrStopped. Several
// goroutines may call Lead, each with an f of its own.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	var last *tenure
	for {
		t, err := n.awaitTenure(ctx, last)
		if err != nil {
			return fmt.Errorf("lead on node %d: %w", n.cfg.ID, err)
		}
		last = t
		if !t.enter() {
			continue
		}
		if err := t.run(ctx, f); err != nil {
			return err
		}
	}
}

// run calls f under a context that ends with ctx or the tenure.
func (t *tenure) run(ctx context.Context, f func(context.Context, Lease) error) error {
	defer t.work.Done()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	defer stop()
	return f(inner, Lease{t})
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

// sayIdle tells the Machine once the work of a tenure has stopped.
func (n *Node) sayIdle(t *tenure) {
	t.work.Wait()
	select {
	case n.idle <- t.term:
	case <-n.ended:
	}
}

// keepTenure follows the belief: it begins, extends or ends this node's time as
// the leader. The caller holds n.mu.
func (n *Node) keepTenure(l algorithms.Leader) {
	leads := l.ID == n.cfg.ID
	t := n.tenure
	switch {
	case t != nil && leads && t.term == l.Term:
		t.extend(l)
		return
	case t == nil && !leads:
		return
	}
	if t != nil {
		t.end()
		go n.sayIdle(t)
	}
	n.tenure = nil
	if leads {
		n.tenure = newTenure(l, n.cfg.Now)
		close(n.tenures)
		n.tenures = make(chan struct{})
	}
}
