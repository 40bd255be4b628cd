package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// patience is the longest that a comparison waits for nodes to agree.
	patience = time.Minute
	// quiet is the time without any decision of a node after which a cluster counts as at rest.
	quiet = 500 * time.Millisecond
	// lookAway is how long the comparison reads nothing from the nodes after a fault, so that
	// reading does not compete with the election for processors.
	lookAway = 50 * time.Millisecond
	// think is how long a worker waits after it looked whether it may write, and before it writes.
	think = 20 * time.Millisecond
)

// cluster is one cluster under one fault: its nodes, and a storage with a worker beside
// each node.
type cluster struct {
	*bench.Cluster
	contender
	workers *bench.Workers
	dir     string
	deaths  []Death
}

// build starts the nodes, the storage and the workers: on a network of their own if cuttable is
// true.
func (o Options) build(c contender, cuttable bool) (*cluster, error) {
	s := &cluster{contender: c}
	if err := s.start(o, cuttable); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *cluster) start(o Options, cuttable bool) (err error) {
	if s.dir, err = os.MkdirTemp(o.dir, "cluster-"); err != nil {
		return fmt.Errorf("make a directory for the storage: %w", err)
	}
	nodes := o.Options
	nodes.Entry, nodes.Voters = s.entry, s.votes != Nobody
	nodes.Args = []string{"--log-level", "debug"} // renewals of leases are records of this level
	if s.store != "" {
		nodes.Args = append(nodes.Args, "--store", o.stores.place(s.store))
	}
	if s.leased() && o.Lease > 0 {
		nodes.Args = append(nodes.Args, "--lease", o.Lease.String())
	}
	if s.Cluster, err = nodes.Start(cuttable); err != nil {
		return err
	}
	s.workers, err = bench.StartWorkers(bench.WorkersConfig{
		Cluster: s.Cluster.Cluster, Binary: o.Binary, Dir: s.dir, Think: think,
	})
	return err
}

// close stops the workers, the storage and the nodes, and removes their network.
func (s *cluster) close() error {
	var errs []error
	if s.workers != nil {
		errs = append(errs, s.workers.Close())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// rest waits until the nodes have agreed and, with leases, a leader has written. Then it waits for
// the time while, in which no node may decide anything.
func (s *cluster) rest(ctx context.Context, while time.Duration) (testcluster.Belief, error) {
	for {
		b, at, err := s.Settle(ctx, quiet)
		if err != nil {
			return b, fmt.Errorf("no first leader: %w", err)
		}
		if s.leased() {
			if _, err := s.workers.AwaitWrite(ctx, time.Now()); err != nil {
				return b, err
			}
		}
		if err := bench.Pause(ctx, while); err != nil {
			return b, err
		}
		if s.LastDecision().Equal(at) {
			return b, nil
		}
	}
}

// kill kills the workers beside some nodes, and then sends SIGKILL to the nodes, as close together
// as possible. It returns the time just before the first SIGKILL. For a while it reads nothing from
// the nodes.
func (s *cluster) kill(ctx context.Context, ids ...proto.NodeID) (began time.Time, err error) {
	for _, id := range ids {
		if err := s.workers.Kill(id); err != nil {
			return began, err
		}
	}
	for i, id := range ids {
		at, err := s.Send(id, syscall.SIGKILL)
		if err != nil {
			return began, err
		}
		if i == 0 {
			began = at
		}
		s.deaths = append(s.deaths, Death{id, at})
	}
	s.LookAway(ctx, lookAway)
	for _, id := range ids {
		if _, err := s.WaitExit(ctx, id); err != nil {
			return began, err
		}
	}
	return began, nil
}

// revive restarts nodes that were killed, and their workers.
func (s *cluster) revive(ids ...proto.NodeID) error {
	for _, id := range ids {
		if err := s.Start(id); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := s.workers.Start(id); err != nil {
			return err
		}
	}
	return nil
}
