package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// tellLease shows how far the leader's own answer can be trusted.
func (d demo) tellLease(ctx context.Context, leader proto.NodeID) error {
	a, err := httpapi.Client{Addr: d.cluster.Node(leader).HTTP}.Leader(ctx)
	if err != nil {
		return err
	}
	if a.Guarantee != d.entry.Guarantee {
		return fmt.Errorf("node %v answers with the guarantee %s, want %s",
			leader, a.Guarantee, d.entry.Guarantee)
	}
	if !a.Guarantee.Leases() {
		d.say("Its answer: guarantee %s, so no lease and no token.", a.Guarantee)
		return nil
	}
	d.say("Its answer: guarantee %s. Its lease lasts for %s more unless it renews.",
		a.Guarantee, millis(time.Until(d.leaseEnd(leader))))
	return nil
}

// leaseEnd returns the latest end of a lease that a node is known to have held; zero if it held
// none.
func (d demo) leaseEnd(id proto.NodeID) (end time.Time) {
	for _, rec := range d.cluster.Records() {
		if rec.Node == uint64(id) && rec.Role == trace.Leading && rec.ValidUntil.After(end) {
			end = rec.ValidUntil
		}
	}
	return end
}

// freed returns a text that says whether the other nodes waited for the dead leader's lease to end,
// and if not, why; "" without leases.
func (d demo) freed(r *rounds.Round, dead death) string {
	end := d.leaseEnd(dead.node)
	switch left := end.Sub(r.Winner.At); {
	case end.IsZero():
		return ""
	case left > 0:
		return fmt.Sprintf("\nThe lease of node %v had %s left: its death was proven, by the end of its "+
			"connections and a refused dial, so nobody waited for that.", dead.node, millis(left))
	}
	return fmt.Sprintf("\nThe lease of node %v was waited out: its kernel reset a connection, "+
		"which proves nothing.", dead.node)
}
