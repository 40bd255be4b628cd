package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/cost"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/proto"
)

// maxDrawnSeed bounds the seeds that this program draws. Programs that store numbers as
// IEEE 754 doubles read a smaller seed exactly.
const maxDrawnSeed = 1 << 53

// simMaxNodes is the greatest number of nodes of a run: bully's messages grow with its square.
const simMaxNodes = 1000

func simulateCommand() *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "run a cluster in virtual time, from a seed",
		Description: "Without --initiator: random faults, then calm, then a leader within the\n" +
			"stated bound; what the flags leave open is drawn from the seed. With it: an\n" +
			"election without faults, its messages counted as the lecture notes do. Ends\n" +
			"with 1 when an invariant was violated, or such an election has no leader.",
		Flags: []cli.Flag{
			algorithmFlag(),
			&cli.StringFlag{
				Name: "voters", Value: "none",
				Usage: "`WHO` votes: none, or some that are drawn, whose majority makes the\n" +
					"nominee the leader",
			},
			&cli.StringFlag{
				Name: "store", Value: "none",
				Usage: "`WHAT` store the leader has its entry in: none, or one that is drawn, and fails as the seed\n" +
					"says",
			},
			formerFlag("office", "--voters drawn"),
			&cli.BoolFlag{
				Name:  "fence",
				Usage: "with --voters drawn: former leaders are fenced, by agents that are slow, fail and lie",
			},
			&cli.Uint64Flag{
				Name: "seed", DefaultText: "drawn and printed",
				Usage: "`NUMBER` that everything random follows from",
			},
			&cli.IntFlag{
				Name: "nodes", DefaultText: "drawn",
				Usage: fmt.Sprintf("`N` nodes, 1 to %d, of ids 1 to N", simMaxNodes),
			},
			&cli.IntFlag{Name: "runs", Value: 1, Usage: "`N` runs, of the seed and those after it"},
			&cli.StringFlag{
				Name:  "initiator",
				Usage: "`ID` of the node that calls the election, or all: every node, at one instant",
			},
			formerFlag("initiators", "--initiator all"),
			&cli.BoolFlag{Name: "shuffle", Usage: "with --initiator: put the nodes on the ring in random order"},
			// A list, so that a second one is refused, not taken for the first.
			&cli.Uint64SliceFlag{Name: "crashed", Usage: "with --initiator: `ID` of the leader, dead at the start"},
			&cli.StringFlag{
				Name: "detector", DefaultText: "drawn; perfect with --initiator",
				Usage: "`KIND` of failure detectors: perfect, late, wrong or none",
			},
			&cli.BoolFlag{
				Name: "preempt", DefaultText: "drawn; as the algorithm does by itself with --initiator",
				Usage: "a node that ranks above the leader takes over",
			},
			&cli.BoolFlag{
				Name:  "table",
				Usage: "print what elections without failures cost, beside theory",
			},
			&cli.BoolFlag{Name: "trace", Usage: "print every record of the run before its result"},
			outputFlag(), formerFlag("json", "--output json"),
		},
		Action: simulate,
	}
}

func simulate(ctx *cli.Context) error {
	if ctx.Bool("table") {
		return printTable(ctx)
	}
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return err
	}
	o, err := simOptions(ctx)
	if err != nil {
		return err
	}
	if ctx.Bool("trace") {
		o.Trace, o.TraceJSON = ctx.App.Writer, asJSON
	}
	if ctx.Int("runs") != 1 {
		return simulateMany(ctx, o, asJSON)
	}
	result, err := sim.Run(o)
	if err != nil {
		return asUsage(err)
	}
	if err := writeResult(ctx.App.Writer, result, asJSON); err != nil {
		return err
	}
	leaderless := 0
	if analysis(ctx) && result.Leader == 0 {
		leaderless = 1
	}
	return failed(1, leaderless, len(result.Violations))
}

// analysis reports whether the user asked for an election without faults: with --initiator.
func analysis(ctx *cli.Context) bool { return ctx.IsSet("initiator") }

// simulateMany makes many runs and prints a summary of them. An interrupt ends the runs early.
func simulateMany(ctx *cli.Context, o sim.Options, asJSON bool) error {
	interrupt, stop := signal.NotifyContext(ctx.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	collectRarely()
	summary, err := sim.Batch(interrupt, o, ctx.Int("runs"), runtime.GOMAXPROCS(0), countRuns(ctx))
	if errors.Is(err, context.Canceled) {
		err = mark(errInterrupted, fmt.Errorf("interrupted after %d runs", summary.Runs))
	} else if err != nil {
		return asUsage(err)
	}
	leaderless := 0
	if analysis(ctx) {
		leaderless = summary.Leaders[0]
	}
	return errors.Join(
		writeResult(ctx.App.Writer, summary, asJSON),
		err, failed(summary.Runs, leaderless, len(summary.Violations)),
	)
}

// countRuns returns a function that shows on a terminal how many runs are done, after every
// hundredth run and after the last.
func countRuns(ctx *cli.Context) func(done int) {
	const every = 100
	runs, count := ctx.Int("runs"), progress(ctx)
	return func(done int) {
		if count != nil && (done == runs || done%every == 0) {
			count(done, runs)
		}
	}
}

// writeResult prints the result of one run, or the summary of many.
func writeResult(w io.Writer, result interface {
	JSON() ([]byte, error)
	Text(io.Writer) error
}, asJSON bool,
) error {
	if !asJSON {
		return result.Text(w)
	}
	line, err := result.JSON()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// failed returns an error if runs did not do what the algorithm promises, otherwise nil.
func failed(runs, leaderless, violations int) error {
	switch {
	case leaderless > 0 && runs == 1:
		return errors.New("the election ended without a leader")
	case leaderless > 0:
		return fmt.Errorf("%d of %d elections ended without a leader", leaderless, runs)
	case violations > 0:
		return fmt.Errorf("%s of what the algorithm promises", words.Plural(violations, "violation"))
	}
	return nil
}

// asUsage turns an error about wrong options of a simulation or a benchmark into a usage error.
// It returns any other error as it is.
func asUsage(err error) error {
	if errors.Is(err, sim.ErrOptions) || errors.Is(err, bench.ErrOptions) {
		return mark(errUsage, err)
	}
	return err
}

// simOptions returns the options of the simulation that the flags describe.
func simOptions(ctx *cli.Context) (sim.Options, error) {
	entry, err := algorithmNamed(ctx.String("algorithm"))
	if err != nil {
		return sim.Options{}, usagef("--algorithm %s: %w", ctx.String("algorithm"), err)
	}
	voters, err := wordOf(ctx, "voters", "none", "drawn")
	if err != nil {
		return sim.Options{}, err
	}
	keeper, err := wordOf(ctx, "store", "none", "drawn")
	if err != nil {
		return sim.Options{}, err
	}
	switch {
	case keeper == "drawn" && voters == "drawn":
		return sim.Options{}, usagef("--store drawn: a store decides, or voters do: leave --voters drawn out")
	case keeper == "drawn" && entry.Guarantee != algorithms.BestEffort:
		return sim.Options{}, usagef("--store drawn: %s needs voters: take an algorithm that nominates", entry.Name)
	case keeper == "drawn":
		entry = entry.WithStore(algorithms.Lease)
	case voters == "drawn":
		entry = entry.WithLease()
	case !analysis(ctx): // which counts the messages of a nomination alone
		entry = entry.WithRecovery()
	}
	if ctx.Bool("fence") {
		if entry.Leased && !entry.Fences {
			return sim.Options{}, usagef("--fence: %s has nobody fenced before it leads; leave it away", entry.Name)
		}
		entry = entry.WithFence()
	}
	if err := checkNumbers(ctx); err != nil {
		return sim.Options{}, err
	}
	initiator, all, err := initiators(ctx)
	if err != nil {
		return sim.Options{}, err
	}
	o := sim.Options{
		Algorithm: cost.Simulated(entry), Seed: ctx.Uint64("seed"), Nodes: ctx.Int("nodes"),
		Detector: sim.Detector(ctx.String("detector")), Fence: ctx.Bool("fence"),
		Initiator: initiator, AllInitiate: all, Shuffle: ctx.Bool("shuffle"), Crashed: crashed(ctx),
	}
	if !ctx.IsSet("seed") {
		o.Seed = rand.Uint64N(maxDrawnSeed)
	}
	if preempt := ctx.Bool("preempt"); ctx.IsSet("preempt") {
		o.Preempt = &preempt
	}
	return o, nil
}

// checkNumbers refuses flags whose numbers are out of range. It accepts a flag that was not given.
func checkNumbers(ctx *cli.Context) error {
	if n := ctx.Int("nodes"); ctx.IsSet("nodes") && (n < 1 || n > simMaxNodes) {
		return usagef("--nodes %d: give 1 to %d", n, simMaxNodes)
	}
	if n := ctx.Int("runs"); n < 1 {
		return usagef("--runs %d: give 1 or more", n)
	}
	ids := ctx.Uint64Slice("crashed")
	switch {
	case len(ids) > 1:
		return usagef("--crashed is given %d times: one node can be dead at the start", len(ids))
	case len(ids) == 1 && ids[0] == 0:
		return usagef("--crashed 0: the ids begin at 1")
	}
	return nil
}

// initiators reads --initiator: which nodes call the election. It returns one node's id, or all as
// true, or zero and false if no node calls it.
func initiators(ctx *cli.Context) (one proto.NodeID, all bool, err error) {
	text := ctx.String("initiator")
	if !ctx.IsSet("initiator") || text == "all" {
		return 0, text == "all", nil
	}
	if one, err = proto.ParseNodeID(text); err != nil {
		return 0, false, usagef("--initiator: %w; or write all", err)
	}
	return one, false, nil
}

// crashed returns the id of the node that is dead at the start, 0 if there is none.
func crashed(ctx *cli.Context) proto.NodeID {
	if ids := ctx.Uint64Slice("crashed"); len(ids) > 0 {
		return proto.NodeID(ids[0])
	}
	return 0
}
