package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// Cluster is a cluster under test: processes on loopback, processes on a network that can be cut,
// or containers.
type Cluster struct {
	*testcluster.Cluster
	Network    *testcluster.Network // nil if the nodes are on loopback
	options    Options
	containers *containers // nil if the nodes are processes
}

// Start starts the nodes: as containers if the options have an engine; else as processes, and if
// cuttable is true on a network that can be cut. The caller must Close the Cluster.
func (o Options) Start(cuttable bool) (*Cluster, error) {
	c, err := o.build(cuttable)
	if err != nil {
		return nil, err
	}
	if err := c.StartAll(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// build prepares what Start starts, but does not start the nodes.
func (o Options) build(cuttable bool) (*Cluster, error) {
	c := &Cluster{options: o}
	if err := c.place(cuttable); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// place prepares what the nodes run on: ports, a network or containers.
func (c *Cluster) place(cuttable bool) (err error) {
	o := c.options
	config := testcluster.Config{
		Binary: o.Binary, Nodes: o.Nodes, Algorithm: o.Entry.Name, Args: o.args(), Command: o.command, Enter: o.enter,
		Secured: o.Secured,
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
		return c.containers.create(c.Cluster)
	}
	return nil
}

// Close stops all that was started, and removes what was made for it. It stops the nodes first, so
// that nothing is removed while they use it.
func (c *Cluster) Close() error {
	var err error
	if c.Cluster != nil {
		err = c.Cluster.Close()
	}
	return errors.Join(err, c.containers.close(), c.Network.Close())
}

// Settle waits until all nodes agree on a leader, and no node has decided anything for the time
// while. If a higher-ranked node takes over from a living leader, Settle waits until the highest
// leads. It also returns the time of the last decision.
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

// LastDecision returns the time at which a node last recorded a decision: anything but the renewal
// of a lease, whose records have the level debug.
func (c *Cluster) LastDecision() (last time.Time) {
	for _, rec := range c.Records() {
		if rec.Level != "debug" {
			last = testcluster.Later(last, rec.Time)
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
