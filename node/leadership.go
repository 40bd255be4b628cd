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

// Lease is one leadership of this node, as Lead passes it to the work. Its methods may be called
// from any goroutine, also after the leadership is over.
type Lease struct{ t *leadership }

// Term returns the term of the leadership. Under the guarantee lease the term is the fencing token: a store
// that has seen a higher token must refuse a write with this one.
func (l Lease) Term() proto.Term { return l.t.term }

// Valid reports whether this node leads at this instant. It reads Config.Now, which should go on
// during suspend, as the clock of package clock does. It is cheap enough to be called before every
// action. An action that begins right after the call may still end after the lease: only a fencing
// token helps against that. Under a best-effort guarantee Valid only means that this node has heard
// of no other leader.
func (l Lease) Valid() bool { return l.t.valid() }

// Until returns when the lease ends unless it is renewed, by the Node's clock. It returns zero when the
// leadership is over, and under a best-effort guarantee, which has no lease.
func (l Lease) Until() time.Time {
	if until := l.t.until.Load(); until != 0 && until != forever {
		return time.Unix(0, until)
	}
	return time.Time{}
}

// forever is the value of until for a leadership without a lease.
const forever = 1<<63 - 1

// leadership is the time during which this node leads one term, or a part of that time. A new part begins if
// the work was told to stop because the lease was about to end, and the lease was renewed after all: then
// work begins again when all work of the earlier part has returned.
//
// Invariants: 1. Once over is set, no work begins. So a wait for the work is a wait for all of it.
// 2. ctx is done only if over is set.
type leadership struct {
	term  proto.Term
	first *leadership // the first part of the same term
	now   func() time.Time
	until atomic.Int64 // end of the lease by the clock now, in nanoseconds; 0 once the leadership is over
	ctx   context.Context
	// cancel ends ctx.
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // the functions given to Lead

	mu        sync.Mutex  // guards the fields below
	over      bool        // no work may begin any more
	lease     int         // counts how often the end of the lease was set
	stopper   *time.Timer // tells the work to stop before the lease ends; nil without a lease
	continued bool        // n.resume waits until the work has ended
}

// newLeadership returns the leadership that l names. The parameter before is the earlier part of the same
// term, or nil.
func newLeadership(l algorithms.Leader, now func() time.Time, before *leadership) *leadership {
	t := &leadership{term: l.Term, now: now}
	t.first = t
	if before != nil {
		t.first = before.first
	}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	t.extend(l)
	return t
}

func (t *leadership) valid() bool {
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
func (t *leadership) ranOut() bool {
	until := t.until.Load()
	return until != forever && t.now().UnixNano() >= until
}

// extend sets the new end of the lease. It returns false if the work was already told to stop. The work is
// told so when a tenth of the lease is left, as measured at the last renewal.
func (t *leadership) extend(l algorithms.Leader) bool {
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
func (t *leadership) expire(lease int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease == lease && !t.over {
		t.over = true
		t.cancel(ErrLeaseExpired)
	}
}

// enter reports whether a function may begin to work. If it may, the caller must call work.Done
// when the function has returned.
func (t *leadership) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.work.Add(1)
	return true
}

// end ends the leadership because this node no longer leads. No function may begin to work any more, and the
// functions at work are told to stop, with why as the cause.
func (t *leadership) end(why error) {
	t.until.Store(0)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.stopper != nil {
		t.stopper.Stop()
	}
	t.cancel(why)
}

// continues reports whether the caller should wait until the work has ended and then resume it. It
// returns true only once.
func (t *leadership) continues() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.continued
	t.continued = true
	return !was
}

// Lead calls f each time this node becomes the leader, until ctx is done, f returns an error, or the Node
// ends. The context of f ends when this node no longer leads, when its lease is about to end and was not
// renewed, when the Node ends, or when ctx ends; the cause of the context says which of these happened. f
// must not wait for anything that waits for f, such as Run or the Transport's Close.
//
// f must return soon after its context ends: under a lease other nodes may lead only once every f
// has returned, or when the lease has ended. If f was told to stop and the lease is then renewed
// after all, the node still leads: Lead calls f again in the same term, once every f has returned.
// If f returns nil before its context ends, Lead waits for the next term.
//
// The error is f's own, the cause of ctx, or wraps ErrStopped. Several goroutines may call Lead,
// each with its own f.
func (n *Node) Lead(ctx context.Context, f func(context.Context, Lease) error) error {
	var last, done *leadership
	for {
		t, err := n.awaitLeadership(ctx, last)
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

// run calls f with a context that ends when ctx or the leadership ends, and reports whether f was told to
// stop.
func (t *leadership) run(ctx context.Context, f func(context.Context, Lease) error) (told bool, err error) {
	defer t.work.Done()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	defer stop()
	err = f(inner, Lease{t})
	return inner.Err() != nil, err
}

// awaitLeadership waits until there is a leadership other than last, and returns it.
func (n *Node) awaitLeadership(ctx context.Context, last *leadership) (*leadership, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n.mu.Lock()
		t, changed := n.leadership, n.leaderships
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

// awaitWork tells the Node's goroutine when the work of a leadership has stopped.
func (n *Node) awaitWork(t *leadership) {
	t.work.Wait()
	if !n.awaitLoans(t.term) {
		n.workStopped <- 0 // of no term: voters keep their promises for what is lent still
		return
	}
	n.workStopped <- t.term
}

// HandedOver is the cause with which the context of Lead's function ends after this node handed
// leadership over to a successor that it had asked. The reason was an operator's order, or that
// this node resigned, was paused or became unhealthy.
type HandedOver struct{ To proto.NodeID }

func (h HandedOver) Error() string { return fmt.Sprintf("leadership was handed to node %d", h.To) }

// Unwrap makes errors.Is(h, ErrNotLeader) true.
func (HandedOver) Unwrap() error { return ErrNotLeader }

// successorIn returns the node to which a Step handed leadership over; zero for none.
func successorIn(out algorithms.Output) proto.NodeID {
	if end := out.Transfer; end != nil && end.Refused == "" {
		return end.To
	}
	return 0
}

// whyOver returns the error that says why a leadership ended before its lease.
func whyOver(next algorithms.Leader, successor proto.NodeID) error {
	switch {
	case successor != 0:
		return HandedOver{successor}
	case next.ID != 0:
		return fmt.Errorf("%w: node %d leads term %d", ErrNotLeader, next.ID, next.Term)
	}
	return ErrNotLeader
}

// keepLeadership begins, extends or ends this node's leadership, according to the new belief l.
// successor is the node to which leadership was handed over, zero for none. The caller holds n.mu.
func (n *Node) keepLeadership(l algorithms.Leader, successor proto.NodeID) {
	leads := l.ID == n.cfg.ID
	t := n.leadership
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
		go n.awaitWork(t)
	}
	n.leadership = nil
	if leads {
		n.beginLeadership(l, nil)
	}
}

// resume waits until the functions that were told to stop have returned. If this node still leads
// the term of t, it then lets work begin again.
func (n *Node) resume(t *leadership) {
	t.work.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.leadership == t {
		t.until.Store(0) // a Lease belongs to its part of the term
		n.beginLeadership(n.status.Leader, t)
	}
}

// beginLeadership lets work begin. The parameter before is the earlier part of the same term, or nil. The
// caller holds n.mu.
func (n *Node) beginLeadership(l algorithms.Leader, before *leadership) {
	n.leadership = newLeadership(l, n.cfg.Now, before)
	close(n.leaderships)
	n.leaderships = make(chan struct{})
}
