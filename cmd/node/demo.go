package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/demo"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
)

// demoMaxNodes is the greatest number of nodes of a demo: more nodes would show nothing new and
// need more than one screen.
const demoMaxNodes = 20

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "elect on real processes, kill the leader, tell the story",
		Description: "Starts nodes as processes of their own on this machine's loopback, waits for\n" +
			"a leader, kills it, waits for the next, starts the killed one again, and\n" +
			"prints who noticed, who said what, and how long it took. On a store the\n" +
			"leader is told to stop, too, and hangs; and it is shown what the store holds.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "nodes", Value: 5, Usage: "`N` nodes, 3 to 20"},
			algorithmFlag(),
			&cli.BoolFlag{
				Name: "fencing", Usage: "pause the leader instead; it wakes, writes, and is refused",
			},
			&cli.StringFlag{
				Name: "voters", Value: "all",
				Usage: "`WHO` votes: all nodes, or none: the algorithm's nominee leads, without a lease",
			},
			formerFlag("best-effort", "--voters none"),
			&cli.StringFlag{
				Name: "store",
				Usage: "leadership stands on a store of this `KIND`, in place of votes; its server is started: " +
					strings.Join(storeserver.Kinds(), ", "),
			},
			&cli.StringFlag{Name: "logs", Usage: "`DIR` to leave the nodes' logs in, for rounds"},
		},
		Action: showDemo,
	}
}

// showDemo runs the demo that the flags ask for.
func showDemo(ctx *cli.Context) error {
	entry, err := algorithmNamed(ctx.String("algorithm"))
	if err != nil {
		return usagef("--algorithm %s: %w", ctx.String("algorithm"), err)
	}
	voters, err := wordOf(ctx, "voters", "none", "all")
	if err != nil {
		return err
	}
	onStore := ctx.IsSet("store")
	if onStore {
		if _, err := wordOf(ctx, "store", storeserver.Kinds()...); err != nil {
			return err
		}
	}
	nodes, leased := ctx.Int("nodes"), voters == "all" && !onStore
	switch {
	case onStore && ctx.IsSet("voters"):
		return usagef("--store --voters: give one of the two, since either makes leaders")
	case onStore && ctx.Bool("fencing"):
		return usagef("--fencing --store: that story is told with votes; leave one of the two out")
	case onStore && entry.NeedsVoters():
		return usagef("--store --algorithm %s: it decides by itself who leads; take one that nominates, as bully",
			entry.Name)
	case !leased && entry.NeedsVoters():
		return usagef("--voters none --algorithm %s: there a majority of voters decides; "+
			"leave --voters out", entry.Name)
	case nodes == 1:
		return usagef("--nodes 1: there would be nobody to take over; give 3 to %d", demoMaxNodes)
	case nodes == 2 && leased:
		return usagef("--nodes 2: of two voters both are needed, so nobody could take over; "+
			"give 3 to %d, or --voters none", demoMaxNodes)
	case nodes < 1 || nodes > demoMaxNodes:
		return usagef("--nodes %d: give 3 to %d", nodes, demoMaxNodes)
	}
	if leased {
		entry = entry.WithLease()
	}
	if ctx.Bool("fencing") && !leased {
		return usagef("--fencing --voters none: without a majority's votes there is no token")
	}
	return runDemo(ctx, demo.Options{
		Entry: entry, Nodes: nodes, Fencing: ctx.Bool("fencing"), Logs: ctx.String("logs"),
		Store: ctx.String("store"),
	})
}

// runDemo runs a demo until its end or a signal.
func runDemo(ctx *cli.Context, o demo.Options) error {
	told, cancel := context.WithCancelCause(ctx.Context)
	defer cancel(nil)
	defer cancelOnSignal(cancel)()
	err := demo.Run(told, ctx.App.Writer, o)
	if errors.Is(err, storeserver.ErrMissing) {
		return mark(errUsage, err)
	}
	if errors.Is(err, syscall.EPIPE) { // nobody reads the story any more
		return signalled{syscall.SIGPIPE}
	}
	return err
}

// signalled is the error for a demo that a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string {
	if s.signal == syscall.SIGINT {
		return "interrupted; all nodes are ended"
	}
	return fmt.Sprintf("ended by a signal (%v); all nodes are ended", s.signal)
}

func (s signalled) Code() int { return 128 + int(s.signal) }

func (s signalled) Is(target error) bool { return target == errInterrupted }

// cancelOnSignal calls cancel on the first signal that would end this process,
// until stop is called. A signal that was ignored from the start, as under nohup, stays
// ignored. SIGPIPE does not cancel: once caught, it also arrives when a connection to a node
// ends. A failed write ends the demo instead.
func cancelOnSignal(cancel context.CancelCauseFunc) (stop func()) {
	pipes := make(chan os.Signal, 1) // nobody reads it
	signal.Notify(pipes, syscall.SIGPIPE)
	signals := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 {
		return func() { signal.Stop(pipes) } // without names, Notify would take all signals
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-got:
			if sig, ok := s.(syscall.Signal); ok {
				cancel(signalled{sig})
			}
		case <-done:
		}
	}()
	return func() {
		signal.Stop(got)
		signal.Stop(pipes)
		close(done)
	}
}
