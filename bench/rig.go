package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/cluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// rig is a cluster under test.
type rig struct {
	*cluster.Cluster
	options Options
	network *network // nil: loopback
}

// start starts the nodes, on a network that can be cut if cuttable.
func (o Options) start(cuttable bool) (*rig, error) {
	r := &rig{options: o}
	var hosts []cluster.Host
	if cuttable {
		var err error
		if r.network, err = newNetwork(o.Nodes); err != nil {
			return nil, err
		}
		hosts = r.network.hosts()
	}
	c, err := cluster.New(cluster.Config{
		Binary: o.Binary, Nodes: o.Nodes, Algorithm: o.Entry.Name, Args: o.args(), Hosts: hosts,
		Enter: o.enter,
	})
	if err != nil {
		return nil, errors.Join(err, r.network.close())
	}
	r.Cluster = c
	if err := c.StartAll(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *rig) close() error { return errors.Join(r.Close(), r.network.close()) }

func (r *rig) ids() []proto.NodeID {
	ids := make([]proto.NodeID, 0, r.options.Nodes)
	for _, n := range r.Nodes() {
		ids = append(ids, n.ID)
	}
	return ids
}

func without(ids []proto.NodeID, gone proto.NodeID) []proto.NodeID {
	return slices.DeleteFunc(ids, func(id proto.NodeID) bool { return id == gone })
}

// settle waits until all nodes agree, on the highest where it takes over from
// a living leader, and nobody has had anything to record for a while.
func (r *rig) settle(ctx context.Context) (cluster.Belief, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		wait := func() (cluster.Belief, error) { return r.WaitAgreed(ctx) }
		if r.options.Entry.Preempt {
			wait = func() (cluster.Belief, error) {
				return r.WaitLeader(ctx, proto.NodeID(r.options.Nodes))
			}
		}
		before, err := wait()
		if err != nil {
			return before, err
		}
		written := len(r.Records())
		if err := pause(ctx, quiet); err != nil {
			return before, fmt.Errorf("not once quiet for %v: %w", quiet, err)
		}
		if after, err := wait(); err != nil || after == before && len(r.Records()) == written {
			return after, err
		}
	}
}

// pause waits for d, or returns why ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
