package demo

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// think is how long a worker of the demo waits after it looked at the node and before it writes:
// long enough for the demo to stop the worker in this time.
const think = 500 * time.Millisecond

// fencingDemo is one run of the story of the lecture notes: "A enters GC pause.
// Lease expires, B becomes leader. A wakes up, thinks it's still leader. A writes
// data (stale leader!)".
type fencingDemo struct {
	demo
	workers *bench.Workers
}

// tellFencing shows how fencing refuses the writes of a former leader.
func (d demo) tellFencing(ctx context.Context, self, dir string) (err error) {
	d.title(d.entry, len(d.nodes))
	first, err := d.assemble(ctx)
	if err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	f := fencingDemo{demo: d}
	if f.workers, err = bench.StartWorkers(bench.WorkersConfig{
		Cluster: d.cluster, Binary: self, Dir: dir, Think: think,
	}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.workers.Close()) }()
	old, err := f.writes(ctx, first.Leader)
	if err != nil {
		return fmt.Errorf("node %v does not write: %w", first.Leader, err)
	}
	if err := f.pauses(ctx, old.Token); err != nil {
		return err
	}
	next, err := f.takesOver(ctx, old.Token)
	if err != nil {
		return fmt.Errorf("nobody took over from node %v: %w", first.Leader, err)
	}
	return f.wakes(ctx, old.Token, next)
}

// writes waits for the first write of the leader's worker.
func (f fencingDemo) writes(ctx context.Context, leader proto.NodeID) (history.Call, error) {
	f.chapter(2, "A worker beside each node writes while its node leads")
	f.begin("The storage is ringleader fence, at %s.", f.workers.Storage.URL())
	c, err := f.workers.AwaitCall(ctx, leader, accepted)
	if err != nil {
		return c, err
	}
	f.say("%s", inOneLine(leader, c))
	return c, nil
}

// accepted reports whether a call is a write that the storage accepted.
func accepted(c history.Call) bool { return c.Kind == history.Put && c.Outcome == history.Done }

// pauses stops the leader and its worker after the worker looked at the node and before it writes.
func (f fencingDemo) pauses(ctx context.Context, old fence.Token) error {
	f.chapter(3, "The leader pauses, as in a garbage collection: SIGSTOP to node %v and its worker", old.Leader)
	if err := f.workers.StopMidway(ctx, old.Leader); err != nil {
		return err
	}
	f.begin("The worker has just seen that node %v leads, and is about to write.", old.Leader)
	return f.cluster.Pause(old.Leader)
}

// takesOver describes how another node is elected and its worker writes.
func (f fencingDemo) takesOver(ctx context.Context, old fence.Token) (history.Call, error) {
	stopped := time.Now()
	living := testcluster.Without(f.nodes, old.Leader)
	next, err := f.cluster.WaitAgreed(ctx, living...)
	if err != nil {
		return history.Call{}, err
	}
	f.chapter(4, "Its lease runs out, and another is elected")
	e, err := f.election(ctx, stopped, next.Term, death{node: old.Leader, at: stopped}, living...)
	if err != nil {
		return history.Call{}, err
	}
	f.draw(e)
	f.say("After %s node %v leads term %d.", millis(e.last().Winner.At.Sub(stopped)), next.Leader, next.Term)
	c, err := f.workers.AwaitCall(ctx, next.Leader, accepted)
	if err == nil {
		f.say("%s", inOneLine(next.Leader, c))
	}
	return c, err
}

// wakes lets the old leader continue where it was stopped.
func (f fencingDemo) wakes(ctx context.Context, old fence.Token, next history.Call) error {
	f.chapter(5, "The old leader wakes: SIGCONT to node %v and its worker", old.Leader)
	if err := errors.Join(f.workers.Signal(old.Leader, syscall.SIGCONT), f.cluster.Resume(old.Leader)); err != nil {
		return err
	}
	c, err := f.workers.AwaitCall(ctx, old.Leader, func(c history.Call) bool {
		return c.Kind == history.Put && c.Token == old && (c.Outcome == history.Stale || c.Began > next.Ended)
	})
	if err != nil {
		return fmt.Errorf("the old worker did not write: %w", err)
	}
	f.begin("It goes on where it stopped, and writes.\n%s", inOneLine(old.Leader, c))
	if c.Outcome != history.Stale {
		return errors.New("the storage took a stale write")
	}
	b, err := f.cluster.WaitAgreed(ctx)
	if err != nil {
		return fmt.Errorf("the nodes do not agree again: %w", err)
	}
	status, err := kv.NewClient(f.workers.Storage.URL()).Status(ctx)
	if err != nil {
		return err
	}
	f.say("All follow node %v, term %d. The storage's meter: %d calls accepted, %d refused as stale; "+
		"its highest token is %v.", b.Leader, b.Term, status.Calls.Accepted, status.Calls.Stale, status.Token)
	if status.Calls.Stale == 0 {
		return errors.New("the storage's meter does not show the stale write")
	}
	return nil
}

// inOneLine describes a call and the storage's answer.
func inOneLine(worker proto.NodeID, c history.Call) string {
	answer := "204, accepted"
	if c.Outcome == history.Stale {
		answer = fmt.Sprintf("412, the current token is %v", c.Current)
	}
	return fmt.Sprintf("worker %v: PUT %s = %s, token %v: %s.", worker, c.Key, c.Value, c.Token, answer)
}
