package play

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// settle waits until all nodes know each other and follow the leader of the virtual side. Without a lease, a node that
// led before would report that to whoever is elected next, which no virtual node does: it is started anew.
func (r *reality) settle(ctx context.Context) error {
	for {
		if err := r.gather(ctx); err != nil {
			return err
		}
		former := formerLeaders(r.cluster.Records(), r.from.leader)
		if len(former) == 0 {
			break
		}
		for _, id := range former {
			if err := r.restart(ctx, id); err != nil {
				return err
			}
		}
	}
	r.story.begin(r.cluster.Records())
	r.begun = time.Now()
	return nil
}

// gather waits until all nodes know each other, and makes them follow the leader of the virtual side.
func (r *reality) gather(ctx context.Context) error {
	err := r.cluster.Wait(ctx, func() bool {
		views := map[uint64]int{}
		for _, rec := range r.cluster.Records() {
			if rec.Alive != nil || rec.Event == "start" {
				views[rec.Node] = len(rec.Alive)
			}
		}
		for _, id := range r.cluster.IDs() {
			if views[uint64(id)] != len(r.cluster.IDs()) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("wait until all know each other: %w", err)
	}
	now, err := r.calm(ctx)
	if err != nil || now.Leader == r.from.leader {
		return err
	}
	if err := r.ask(now.Leader, httpapi.Transfer, r.from.leader)(ctx); err != nil {
		return err
	}
	if now, err = r.calm(ctx); err == nil && now.Leader != r.from.leader {
		err = fmt.Errorf("node %v leads at first, in virtual time node %v", now.Leader, r.from.leader)
	}
	return err
}

// formerLeaders returns the nodes whose present process led without a lease, but for the leader.
func formerLeaders(records []trace.Record, leader proto.NodeID) (ids []proto.NodeID) {
	led := map[proto.NodeID]bool{}
	for _, rec := range records {
		id := proto.NodeID(rec.Node)
		led[id] = rec.Event != "start" && led[id] ||
			rec.Role == trace.Leading && id != leader && !algorithms.Guarantee(rec.Guarantee).Leases()
	}
	maps.DeleteFunc(led, func(_ proto.NodeID, led bool) bool { return !led })
	return slices.Sorted(maps.Keys(led))
}

// restart ends the process of a node and starts the next one.
func (r *reality) restart(ctx context.Context, id proto.NodeID) error {
	if err := r.cluster.Terminate(id); err != nil {
		return err
	}
	if _, err := r.cluster.WaitExit(ctx, id); err != nil {
		return err
	}
	return r.cluster.Start(id, r.args[id]...)
}

// rest is how long nobody may send anything until no message counts as under way.
const rest = 400 * time.Millisecond

// calm waits until all living nodes agree and no message is under way.
func (r *reality) calm(ctx context.Context) (b testcluster.Belief, err error) {
	for {
		var ok bool
		err := r.cluster.Wait(ctx, func() bool {
			_, ok := r.agreed()
			return ok
		})
		if err != nil {
			return b, fmt.Errorf("no agreement: %s: %w", r.beliefs(), err)
		}
		before := len(r.story.part(r.cluster.Records()))
		if err := sleep(ctx, rest); err != nil {
			return b, err
		}
		if b, ok = r.agreed(); ok && len(r.story.part(r.cluster.Records())) == before {
			return b, nil
		}
	}
}
