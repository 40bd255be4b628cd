package compare

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// fault is a step of the script that was begun.
type fault struct {
	began time.Time      // just before the fault
	rest  []proto.NodeID // the other nodes, which have to agree on a leader
	lost  proto.NodeID   // the leader that the nodes in rest have lost; 0 if all nodes were restarted
	apart []proto.NodeID // nodes that are cut off and may elect among themselves
	undo  func(context.Context) error
}

// inflict begins a step of the script. The cluster must be at rest, with this leader.
func (s *cluster) inflict(
	ctx context.Context, step Step, leader proto.NodeID, f chances,
) (done fault, err error) {
	done = fault{rest: testcluster.Without(s.IDs(), leader), lost: leader}
	switch step {
	case Kill:
		done.undo = func(context.Context) error { return s.revive(leader) }
		done.began, err = s.kill(ctx, leader)
	case KillTwo:
		next := done.rest[len(done.rest)-1]
		done.rest = testcluster.Without(done.rest, next)
		done.undo = func(context.Context) error { return s.revive(leader, next) }
		done.began, err = s.kill(ctx, leader, next)
	case Restart:
		ids := s.IDs()
		done.rest, done.lost = ids, 0
		if done.began, err = s.kill(ctx, ids...); err == nil {
			err = s.revive(ids...)
		}
	case Pause:
		err = s.pause(ctx, leader, f, &done)
	case Cut:
		err = s.cut(ctx, f.apart(leader, s.IDs()), f, &done)
	case Stop:
		done.undo = func(ctx context.Context) error {
			if _, err := s.WaitExit(ctx, leader); err != nil {
				return err
			}
			s.deaths = append(s.deaths, Death{leader, time.Now()})
			return s.Start(leader)
		}
		if done.began, err = s.Send(leader, syscall.SIGTERM); err == nil {
			s.LookAway(ctx, lookAway)
		}
	}
	return done, err
}

// pause stops the leader and the leader's worker. With leases it stops the worker between its look
// at the node and its write.
func (s *cluster) pause(ctx context.Context, leader proto.NodeID, f chances, done *fault) (err error) {
	done.undo = func(ctx context.Context) error {
		if err := bench.Pause(ctx, f.hold); err != nil {
			return err
		}
		if s.leased() { // what the old leader's worker had begun is stale only then
			if _, err := s.workers.AwaitWrite(ctx, time.Now()); err != nil {
				return err
			}
		}
		if err := s.workers.Signal(leader, syscall.SIGCONT); err != nil {
			return err
		}
		return s.Resume(leader)
	}
	if !s.leased() { // it has no token, and so it does not write
		err = s.workers.Signal(leader, syscall.SIGSTOP)
	} else {
		err = s.workers.StopMidway(ctx, leader)
	}
	if err != nil {
		return err
	}
	if done.began, err = s.Send(leader, syscall.SIGSTOP); err == nil {
		s.LookAway(ctx, lookAway)
	}
	return err
}

// cut connects these nodes to a network of their own, apart from the other nodes.
func (s *cluster) cut(ctx context.Context, ids []proto.NodeID, f chances, done *fault) error {
	done.rest, done.apart = testcluster.Without(s.IDs(), ids...), ids
	done.undo = func(ctx context.Context) error {
		if err := bench.Pause(ctx, f.hold); err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.Network.Heal(id); err != nil {
				return err
			}
		}
		return nil
	}
	done.began = time.Now()
	if err := s.Network.Apart(ids...); err != nil {
		return err
	}
	s.LookAway(ctx, lookAway)
	return nil
}

// heard returns the records of the nodes that are not cut off.
func (f fault) heard(records []trace.Record) []trace.Record {
	return slices.DeleteFunc(records, func(rec trace.Record) bool {
		return slices.Contains(f.apart, proto.NodeID(rec.Node))
	})
}
