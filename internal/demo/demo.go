// Package demo elects on real processes, kills or pauses the leader, and tells what happened.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// How long the demo may take; on a store it waits for a lease.
const (
	longest        = 50 * time.Second
	longestOnStore = 2 * time.Minute
)

// Options say what to show.
type Options struct {
	Entry   catalog.Entry // the algorithm, with a lease around it or without
	Nodes   int
	Fencing bool   // stop the leader instead of killing it: it wakes, writes, and is refused
	Store   string // the kind of the store on which leadership stands, as package storeserver has it; or ""
	Logs    string // a directory in which the nodes' logs are kept; "" if they are not
}

// demo is one run of the demonstration.
type demo struct {
	teller
	cluster *testcluster.Cluster
	entry   catalog.Entry
	nodes   []proto.NodeID
}

// Run shows an election on real processes. When it returns, for whatever reason, none of these
// processes is left. It takes a minute at most, on a store two. If ctx is done, the error is its cause.
func Run(ctx context.Context, out io.Writer, o Options) (err error) {
	if o.Logs != "" {
		if err := os.MkdirAll(o.Logs, 0o777); err != nil {
			return fmt.Errorf("make a directory for the logs: %w: name another one", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file, to start nodes from it: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := longest
	if o.Store != "" {
		limit = longestOnStore
	}
	bounded, stop := context.WithTimeoutCause(ctx, limit, tooLong{limit})
	defer stop()
	dir, err := os.MkdirTemp("", "ringleader-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var onStore *storeDemo
	if o.Store != "" {
		if onStore, err = startStore(bounded, &o); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	defer func() { err = errors.Join(err, onStore.close()) }()
	c, err := testcluster.New(testcluster.Config{
		Binary: self, Nodes: o.Nodes, Algorithm: o.Entry.Name, Args: append(nodeArgs(o), onStore.args()...),
	})
	if err != nil {
		return err
	}
	d := demo{teller: teller{&story{out: out, stop: cancel}}, cluster: c, entry: o.Entry, nodes: c.IDs()}
	began := time.Now()
	switch {
	case onStore != nil:
		onStore.demo = d
		err = onStore.tell(bounded)
	case o.Fencing:
		err = d.tellFencing(bounded, self, dir)
	default:
		err = d.tell(bounded)
	}
	err = errors.Join(err, c.Close())
	if o.Logs != "" {
		err = errors.Join(err, c.SaveLogs(o.Logs))
	}
	if err == nil {
		d.end(time.Since(began))
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause // it explains what else went wrong
	}
	if err != nil {
		return fmt.Errorf("the demo failed: %w", err)
	}
	return nil
}

// story writes the demo's text. If that fails, it stops the demo.
type story struct {
	out  io.Writer
	stop context.CancelCauseFunc
}

func (s *story) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	if err != nil {
		s.stop(fmt.Errorf("print the story: %w", err))
	}
	return n, err
}

// nodeArgs returns the arguments of the demo's nodes, apart from those of every Cluster. Under a
// lease all nodes vote.
func nodeArgs(o Options) []string {
	args := []string{"--log-level", "debug"}
	if o.Entry.Leased && o.Store == "" {
		args = append(args, "--voters", fmt.Sprintf("1-%d", o.Nodes))
	}
	return args
}

// tooLong is the error of a demo that took too long.
type tooLong struct{ limit time.Duration }

func (t tooLong) Error() string { return fmt.Sprintf("that took longer than %v", t.limit) }
func (tooLong) Unwrap() error   { return context.DeadlineExceeded }

// tell plays the whole story.
func (d demo) tell(ctx context.Context) error {
	d.title(d.entry, len(d.nodes))
	first, err := d.assemble(ctx)
	if err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	next, dead, err := d.killLeader(ctx, first.Leader)
	if err != nil {
		return fmt.Errorf("nobody took over from node %v: %w", first.Leader, err)
	}
	if err := d.comeBack(ctx, dead, next); err != nil {
		return fmt.Errorf("node %v did not come back as it should: %w", first.Leader, err)
	}
	return nil
}

// assemble starts the nodes and waits for the first leader.
func (d demo) assemble(ctx context.Context) (testcluster.Belief, error) {
	d.chapter(1, "Start %d processes, which find each other by gossip", len(d.nodes))
	began := time.Now()
	for _, n := range d.cluster.Nodes() {
		if err := d.cluster.Start(n.ID); err != nil {
			return testcluster.Belief{}, err
		}
		d.started(n, d.cluster.PID(n.ID))
	}
	leader, err := d.settle(ctx)
	if err != nil {
		return leader, err
	}
	d.say("After %s all %d agree: node %v leads term %d.",
		millis(time.Since(began)), len(d.nodes), leader.Leader, leader.Term)
	return leader, d.tellLease(ctx, leader.Leader)
}

// settle waits until all nodes agree on a leader. If the algorithm lets the highest node take over,
// it waits until they agree on that node.
func (d demo) settle(ctx context.Context) (testcluster.Belief, error) {
	if d.entry.Preempt {
		return d.cluster.WaitLeader(ctx, d.nodes[len(d.nodes)-1])
	}
	return d.cluster.WaitAgreed(ctx)
}

// killLeader kills the leader's process and describes the election that follows.
func (d demo) killLeader(ctx context.Context, leader proto.NodeID) (
	next testcluster.Belief, dead death, err error,
) {
	d.chapter(2, "Kill the leader: SIGKILL to node %v, pid %d", leader, d.cluster.PID(leader))
	dead.node = leader
	if dead.at, err = d.cluster.Kill(leader); err != nil {
		return next, dead, err
	}
	living := testcluster.Without(d.nodes, leader)
	if next, err = d.cluster.WaitAgreed(ctx, living...); err != nil {
		return next, dead, err
	}
	e, err := d.election(ctx, dead.at, next.Term, dead, living...)
	if err != nil {
		return next, dead, err
	}
	d.draw(e)
	took := agreedAt(e.last(), living).Sub(dead.at)
	d.say("After %s all who live (%d) agree: node %v leads term %d.\n%s.%s",
		millis(took), len(living), next.Leader, next.Term, cost(e, dead), d.freed(e.last(), dead))
	return next, dead, nil
}

// comeBack restarts the killed node and says who leads then.
func (d demo) comeBack(ctx context.Context, dead death, leader testcluster.Belief) error {
	id := dead.node
	d.chapter(3, "Start node %v again", id)
	started := time.Now()
	if err := d.cluster.Start(id); err != nil {
		return err
	}
	d.started(d.cluster.Node(id), d.cluster.PID(id))
	final, err := d.settle(ctx)
	if err != nil {
		return err
	}
	if final.Term == leader.Term && final.Leader != leader.Leader {
		d.say("After %s node %v leads term %d, as node %v did: on a busy machine it may not have heard of that "+
			"in time. Two leaders that meet leave one, but only voters keep to one all the while.",
			millis(time.Since(started)), final.Leader, final.Term, leader.Leader)
		return nil
	}
	e, err := d.election(ctx, started, final.Term, dead, id)
	if err != nil {
		return err
	}
	after := millis(believed(e.last(), id).Sub(started))
	switch {
	case final == leader:
		d.say("After %s it follows node %v, which still leads term %d: with the %s algorithm a "+
			"living leader stays.", after, final.Leader, final.Term, d.entry.Name)
	case d.entry.Preempt:
		how := "the highest node takes over"
		if d.entry.Leased {
			how = "the leader hands over to the highest node once that has been there for a while"
		}
		d.say("After %s it leads again, term %d: it ranks highest, and with the %s algorithm "+
			"%s.\n%s.", after, final.Term, d.entry.Name, how, cost(e, dead))
	default: // on a busy machine a leader may be taken for silent
		d.draw(e)
		d.say("After %s node %v leads term %d: node %v was voted out meanwhile.\n%s.", after,
			final.Leader, final.Term, leader.Leader, cost(e, dead))
	}
	return nil
}
