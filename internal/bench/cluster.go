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

// Cluster is a cluster under test.
type Cluster struct {
	*testcluster.Cluster
	Network    *testcluster.Network // nil: loopback
	options    Options
	containers *containers // nil: processes
}

// Start starts the nodes: where the options have an engine as its containers, if
// cuttable on a network that can be cut. The caller must Close the Cluster.
func (o Options) Start(cuttable bool) (*Cluster, error) {
	c := &Cluster{options: o}
	if err := c.start(cuttable); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(cuttable bool) (err error) {
	o := c.options
	config := testcluster.Config{
		Binary: o.Binary, Nodes: o.Nodes, Algorithm: o.Entry.Name, Args: o.args(), Enter: o.enter,
	}
	switch {
	case o.engine != nil:
		c.containers = o.engine.containers(o.Nodes)
		config.Hosts = c.containers.hosts()
	case cuttable:
		if c.Network, err = testcluster.NewNetwork(o.Nodes); err != nil {
			return err
		}
		config.Hosts = c.Network.Hosts()
	}
	if c.Cluster, err = testcluster.New(config); err != nil {
		return err
	}
	if c.containers != nil {
		if err := c.containers.create(c.Cluster); err != nil {
			return err
		}
	}
	return c.StartAll()
}

// Close ends all that was started, in the order in which that cannot come back.
func (c *Cluster) Close() error {
	var err error
	if c.Cluster != nil {
		err = c.Cluster.Close()
	}
	return errors.Join(err, c.containers.close(), c.Network.Close())
}

// IDs are the nodes.
func (c *Cluster) IDs() []proto.NodeID {
	ids := make([]proto.NodeID, 0, c.options.Nodes)
	for _, n := range c.Nodes() {
		ids = append(ids, n.ID)
	}
	return ids
}

func without(ids []proto.NodeID, gone proto.NodeID) []proto.NodeID {
	return slices.DeleteFunc(ids, func(id proto.NodeID) bool { return id == gone })
}

// Settle waits until all nodes agree, on the highest where it takes over from
// a living leader, and nobody has decided anything for a while. It returns when the
// last thing was decided.
func (c *Cluster) Settle(ctx context.Context, while time.Duration) (b testcluster.Belief, last time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if b, err = c.agreed(ctx); err != nil {
			return b, last, err
		}
		last = c.LastDecision()
		// What was decided may not be read yet.
		if err := Pause(ctx, max(while-time.Since(last), lookAway)); err != nil {
			return b, last, fmt.Errorf("not once quiet for %v: %w", while, err)
		}
		again, err := c.agreed(ctx)
		if err != nil || again == b && c.LastDecision().Equal(last) {
			return again, last, err
		}
	}
}

func (c *Cluster) agreed(ctx context.Context) (testcluster.Belief, error) {
	if c.options.Entry.Preempt {
		return c.WaitLeader(ctx, proto.NodeID(c.options.Nodes))
	}
	return c.WaitAgreed(ctx)
}

// LastDecision is when a node last recorded what is more than a renewal of a lease.
func (c *Cluster) LastDecision() (last time.Time) {
	for _, rec := range c.Records() {
		if rec.Level != "debug" {
			last = later(last, rec.Time)
		}
	}
	return last
}

// Pause waits for d, or returns why ctx is done.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
