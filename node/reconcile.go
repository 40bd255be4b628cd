package node

import (
	"context"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// reconciling is the state of Config.Reconcile for the present split. All fields but done belong to
// the goroutine in Run.
type reconciling struct {
	number uint64
	cancel context.CancelFunc // nil while nothing runs
	done   chan algorithms.Reconciled
	under  sync.WaitGroup
}

// reconcile starts the work that the Machine asks for, and cancels the work that the Machine no longer asks
// for. s is nil if it asks for none.
func (n *Node) reconcile(s *algorithms.Split) {
	r := &n.reconciling
	if s != nil && s.Number == r.number {
		return
	}
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
	}
	if s == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.number, r.cancel = s.Number, cancel
	split := *s.Clone()
	r.under.Go(func() {
		outcome := algorithms.Outcome{Done: true}
		if n.cfg.Reconcile != nil {
			outcome = n.cfg.Reconcile(ctx, split)
			outcome.Done = true
		}
		select {
		case r.done <- algorithms.Reconciled{Number: split.Number, Outcome: outcome}:
		case <-ctx.Done():
		}
	})
}

// endReconciling cancels the work and waits for its end.
func (n *Node) endReconciling() {
	n.reconcile(nil)
	n.reconciling.under.Wait()
}
