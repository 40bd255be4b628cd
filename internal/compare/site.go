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
	// patience bounds each wait.
	patience = time.Minute
	// quiet is how long nobody must have decided anything for a cluster to be at rest.
	quiet = 500 * time.Millisecond
	// lookAway is how long after a fault nothing is read: the observer does not
	// compete with most elections for the processors.
	lookAway = 50 * time.Millisecond
	// think is how long a worker takes between its look and its write.
	think = 20 * time.Millisecond
)

// site is one cluster under one fault: its nodes, and a storage with a worker beside
// each node.
type site struct {
	*testcluster.Cluster
	contender
	nodes   int
	network *testcluster.Network // nil: loopback
	crew    *bench.Crew
	dir     string
	deaths  []Death
}

// build starts everything, on a network of its own where that is to be cut.
func (o Options) build(c contender, cuttable bool) (*site, error) {
	s := &site{contender: c, nodes: o.Nodes}
	if err := s.start(o, cuttable); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) start(o Options, cuttable bool) (err error) {
	if s.dir, err = os.MkdirTemp(o.Dir, "site-"); err != nil {
		return fmt.Errorf("make a directory for the storage: %w", err)
	}
	// Renewals of leases are records of level debug.
	config := testcluster.Config{
		Binary: o.Binary, Nodes: o.Nodes, Algorithm: s.entry.Name,
		Args: []string{"--profile", o.Profile, "--log-level", "debug"},
	}
	if s.votes != Nobody {
		config.Args = append(config.Args, "--voters", fmt.Sprintf("1-%d", o.Nodes))
	}
	if cuttable {
		if s.network, err = testcluster.NewNetwork(o.Nodes); err != nil {
			return err
		}
		config.Hosts = s.network.Hosts()
	}
	if s.Cluster, err = testcluster.New(config); err != nil {
		return err
	}
	if err = s.StartAll(); err != nil {
		return err
	}
	s.crew, err = bench.StartCrew(bench.CrewConfig{
		Cluster: s.Cluster, Binary: o.Binary, Work: o.Work, Dir: s.dir, Think: think,
	})
	return err
}

// close ends all that was started, and removes it.
func (s *site) close() error {
	var errs []error
	if s.crew != nil {
		errs = append(errs, s.crew.Close())
	}
	if s.Cluster != nil {
		errs = append(errs, s.Close())
	}
	errs = append(errs, s.network.Close())
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// settle waits until all nodes agree, on the highest where it takes over from a living
// leader, and nobody decides anything for a while. It returns when the last thing was
// decided.
func (s *site) settle(ctx context.Context) (b testcluster.Belief, at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if s.entry.Preempt {
			b, err = s.WaitLeader(ctx, proto.NodeID(s.nodes))
		} else {
			b, err = s.WaitAgreed(ctx)
		}
		if err != nil {
			return b, at, err
		}
		at = s.lastDecision()
		rest := quiet - time.Since(at)
		if rest <= 0 {
			return b, at, nil
		}
		if err := wait(ctx, rest); err != nil {
			return b, at, fmt.Errorf("not once quiet for %v: %w", quiet, err)
		}
	}
}

// rest waits until the cluster is at rest, a leader that may write does, and another
// while has passed in which nothing was decided.
func (s *site) rest(ctx context.Context, while time.Duration) (testcluster.Belief, error) {
	for {
		b, at, err := s.settle(ctx)
		if err != nil {
			return b, fmt.Errorf("no first leader: %w", err)
		}
		if s.votes != Nobody {
			if _, err := s.crew.AwaitWrite(ctx, time.Now()); err != nil {
				return b, err
			}
		}
		if err := wait(ctx, while); err != nil {
			return b, err
		}
		if s.lastDecision().Equal(at) {
			return b, nil
		}
	}
}

// lastDecision is when a node last wrote what is no chatter.
func (s *site) lastDecision() (last time.Time) {
	for _, rec := range s.Records() {
		if rec.Level != "debug" {
			last = later(last, rec.Time)
		}
	}
	return last
}

// kill sends SIGKILL to nodes, as close together as can be, after it ended the workers
// beside them, and returns the instant just before. Nothing is read for a while.
func (s *site) kill(ctx context.Context, ids ...proto.NodeID) (began time.Time, err error) {
	for _, id := range ids {
		if err := s.crew.Kill(id); err != nil {
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

// revive starts nodes again that were killed, and their workers.
func (s *site) revive(ids ...proto.NodeID) error {
	for _, id := range ids {
		if err := s.Start(id); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := s.crew.Start(id); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for d, or returns why ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
