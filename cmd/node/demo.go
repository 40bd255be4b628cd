package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	demoTime     = 50 * time.Second // bounds the whole demo
	demoMaxNodes = 20               // more say no more and outgrow a screen
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "elect on real processes, kill the leader, tell the story",
		Description: "Starts nodes as processes of their own on this machine's loopback, waits for\n" +
			"a leader, kills it, waits for the next, starts the killed one again, and\n" +
			"prints who noticed, who said what, and how long it took.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "nodes", Value: 5, Usage: "how `MANY` nodes, 3 to 20"},
			&cli.StringFlag{Name: "algorithm", Value: "bully", Usage: "the election algorithm's `NAME`"},
			&cli.BoolFlag{
				Name: "fencing", Usage: "pause the leader instead; it wakes, writes, and is refused",
			},
			&cli.BoolFlag{
				Name: "best-effort", Usage: "no voters: the algorithm's nominee leads, without a lease",
			},
			&cli.StringFlag{Name: "logs", Usage: "`DIRECTORY` to leave the nodes' logs in, for rounds"},
		},
		Action: func(ctx *cli.Context) error {
			entry, err := algorithmNamed(ctx.String("algorithm"))
			if err != nil {
				return usagef("--algorithm %s: %w", ctx.String("algorithm"), err)
			}
			nodes, office := ctx.Int("nodes"), !ctx.Bool("best-effort")
			switch {
			case !office && entry.NeedsVoters():
				return usagef("--best-effort --algorithm %s: there a majority of voters decides; "+
					"leave --best-effort out", entry.Name)
			case nodes == 1:
				return usagef("--nodes 1: there would be nobody to take over; give 3 to %d", demoMaxNodes)
			case nodes == 2 && office:
				return usagef("--nodes 2: of two voters both are needed, so nobody could take over; "+
					"give 3 to %d, or --best-effort", demoMaxNodes)
			case nodes < 1 || nodes > demoMaxNodes:
				return usagef("--nodes %d: give 3 to %d", nodes, demoMaxNodes)
			}
			if office {
				entry = entry.WithOffice()
			}
			if ctx.Bool("fencing") {
				if !office {
					return usagef("--fencing --best-effort: without a majority's votes there is no token")
				}
				return demonstrate(ctx.Context, ctx.App.Writer, entry, nodes, ctx.String("logs"), demo.tellFencing)
			}
			return demonstrate(ctx.Context, ctx.App.Writer, entry, nodes, ctx.String("logs"), demo.tell)
		},
	}
}

// demo is one run of the demonstration.
type demo struct {
	teller
	cluster *testcluster.Cluster
	entry   catalog.Entry
	nodes   []proto.NodeID
}

// telling is a story that a demo can tell; dir is for its files.
type telling func(d demo, ctx context.Context, self, dir string) error

// demonstrate runs a demo from start to end and leaves no process behind,
// whatever ends it. The nodes' logs stay in the directory logs, nowhere if that is empty.
func demonstrate(
	ctx context.Context, out io.Writer, entry catalog.Entry, nodes int, logs string, tell telling,
) (err error) {
	if logs != "" {
		if err := os.MkdirAll(logs, 0o777); err != nil {
			return fmt.Errorf("make a directory for the logs: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file, to start nodes from it: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer cancelOnSignal(cancel)()
	bounded, stop := context.WithTimeoutCause(ctx, demoTime, errTooLong)
	defer stop()
	dir, err := os.MkdirTemp("", "ringleader-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := testcluster.New(testcluster.Config{
		Binary: self, Nodes: nodes, Algorithm: entry.Name, Args: demoArgs(entry, nodes),
	})
	if err != nil {
		return err
	}
	d := demo{teller: teller{&story{out: out, stop: cancel}}, cluster: c, entry: entry}
	for _, n := range c.Nodes() {
		d.nodes = append(d.nodes, n.ID)
	}
	began := time.Now()
	err = errors.Join(tell(d, bounded, self, dir), c.Close())
	if logs != "" {
		err = errors.Join(err, c.SaveLogs(logs))
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

// demoArgs are what the nodes of a demo are told beyond what every Cluster says:
// with an office, all of them vote.
func demoArgs(entry catalog.Entry, nodes int) []string {
	args := []string{"--log-level", "debug"}
	if entry.Office {
		args = append(args, "--voters", fmt.Sprintf("1-%d", nodes))
	}
	return args
}

// errTooLong ends a demo that its nodes do not bring to an end.
var errTooLong = mark(context.DeadlineExceeded, fmt.Errorf("that took longer than %v", demoTime))

// tell is the story.
func (d demo) tell(ctx context.Context, _, _ string) error {
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
	leader, err := d.settle(ctx, 0)
	if err != nil {
		return leader, err
	}
	d.say("After %s all %d agree: node %v leads term %d.",
		millis(time.Since(began)), len(d.nodes), leader.Leader, leader.Term)
	return leader, d.promise(ctx, leader.Leader)
}

// settle waits until all nodes agree and stay so: on the highest one where the
// algorithm lets it take over from others, else on leader, if it is set.
func (d demo) settle(ctx context.Context, leader proto.NodeID) (testcluster.Belief, error) {
	switch {
	case d.entry.Preempt:
		return d.cluster.WaitLeader(ctx, d.nodes[len(d.nodes)-1])
	case leader != 0:
		return d.cluster.WaitLeader(ctx, leader)
	}
	return d.cluster.WaitAgreed(ctx)
}

// killLeader kills the leader's process and tells the election that follows.
func (d demo) killLeader(ctx context.Context, leader proto.NodeID) (
	next testcluster.Belief, dead death, err error,
) {
	d.chapter(2, "Kill the leader: SIGKILL to node %v, pid %d", leader, d.cluster.PID(leader))
	dead.node = leader
	if dead.at, err = d.cluster.Kill(leader); err != nil {
		return next, dead, err
	}
	living := slices.DeleteFunc(slices.Clone(d.nodes), func(id proto.NodeID) bool {
		return id == leader
	})
	if next, err = d.cluster.WaitAgreed(ctx, living...); err != nil {
		return next, dead, err
	}
	r, err := d.round(ctx, next.Term, dead, living...)
	if err != nil {
		return next, dead, err
	}
	d.draw(r)
	d.say("After %s all who live (%d) agree: node %v leads term %d.\n%s.%s",
		millis(agreedAt(r, living).Sub(dead.at)), len(living), next.Leader, next.Term, cost(r), d.freed(r, dead))
	return next, dead, nil
}

// comeBack starts the killed node again and tells who leads then.
func (d demo) comeBack(ctx context.Context, dead death, leader testcluster.Belief) error {
	id := dead.node
	d.chapter(3, "Start node %v again", id)
	started := time.Now()
	if err := d.cluster.Start(id); err != nil {
		return err
	}
	d.started(d.cluster.Node(id), d.cluster.PID(id))
	final, err := d.settle(ctx, leader.Leader)
	if err != nil {
		return err
	}
	r, err := d.round(ctx, final.Term, dead, id)
	if err != nil {
		return err
	}
	after := millis(believed(r, id).Sub(started))
	if final.Leader == id {
		how := "the highest node takes over"
		if d.entry.Office {
			how = "the leader hands over to the highest node once that has been there for a while"
		}
		d.say("After %s it leads again, term %d: it ranks highest, and with the %s algorithm "+
			"%s.\n%s.", after, final.Term, d.entry.Name, how, cost(r))
		return nil
	}
	d.say("After %s it follows node %v, which still leads term %d: with the %s algorithm a "+
		"living leader stays.", after, final.Leader, final.Term, d.entry.Name)
	return nil
}
