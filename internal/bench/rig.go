package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// rig is a cluster under test.
type rig struct {
	*testcluster.Cluster
	options    Options
	network    *testcluster.Network // nil: loopback
	containers *containers          // nil: processes
}

// start starts the nodes: where the options have an engine as its containers, if
// cuttable on a network that can be cut.
func (o Options) start(cuttable bool) (*rig, error) {
	r := &rig{options: o}
	if err := r.build(cuttable); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *rig) build(cuttable bool) (err error) {
	o := r.options
	config := testcluster.Config{
		Binary: o.Binary, Nodes: o.Nodes, Algorithm: o.Entry.Name, Args: o.args(), Enter: o.enter,
	}
	switch {
	case o.engine != nil:
		r.containers = o.engine.containers(o.Nodes)
		config.Hosts = r.containers.hosts()
	case cuttable:
		if r.network, err = testcluster.NewNetwork(o.Nodes); err != nil {
			return err
		}
		config.Hosts = r.network.Hosts()
	}
	if r.Cluster, err = testcluster.New(config); err != nil {
		return err
	}
	if r.containers != nil {
		if err := r.containers.create(r.Cluster); err != nil {
			return err
		}
	}
	return r.StartAll()
}

// close ends all that was started, in the order in which that cannot come back.
func (r *rig) close() error {
	var err error
	if r.Cluster != nil {
		err = r.Close()
	}
	return errors.Join(err, r.containers.close(), r.network.Close())
}

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
func (r *rig) settle(ctx context.Context) (testcluster.Belief, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		wait := func() (testcluster.Belief, error) { return r.WaitAgreed(ctx) }
		if r.options.Entry.Preempt {
			wait = func() (testcluster.Belief, error) {
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
