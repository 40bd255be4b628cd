package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/proto"
)

// maxDrawnSeed keeps a seed that we draw readable for whoever takes numbers
// for IEEE 754 doubles.
const maxDrawnSeed = 1 << 53

// simMaxNodes bounds a run: bully's messages grow with the square of the nodes.
const simMaxNodes = 1000

func simulateCommand() *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "run a cluster in virtual time, from a seed",
		Description: "Without an initiator: random faults, then calm, then a leader within the\n" +
			"stated bound; what the options leave open is drawn from the seed. With one:\n" +
			"an election without faults, its messages counted as the lecture notes do.\n" +
			"Ends with 1 when an invariant was violated or an analysis elected nobody.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "algorithm", Value: "bully", Usage: "the election algorithm's `NAME`"},
			&cli.BoolFlag{
				Name:  "office",
				Usage: "it nominates, and a majority of voters makes its nominee the leader",
			},
			&cli.BoolFlag{
				Name:  "fence",
				Usage: "with --office: former leaders are fenced, by agents that are slow, fail and lie",
			},
			&cli.Uint64Flag{
				Name: "seed", DefaultText: "drawn and printed",
				Usage: "`NUMBER` that everything random follows from",
			},
			&cli.IntFlag{
				Name: "nodes", DefaultText: "drawn",
				Usage: fmt.Sprintf("`N` nodes, 1 to %d, of ids 1 to N", simMaxNodes),
			},
			&cli.IntFlag{Name: "runs", Value: 1, Usage: "`R` runs, of the seed and those after it"},
			&cli.Uint64Flag{Name: "initiator", Usage: "`ID` of the node that calls the election"},
			&cli.StringFlag{Name: "initiators", Usage: "`all`: every node calls it, at one instant"},
			&cli.BoolFlag{Name: "shuffle", Usage: "put the nodes on the ring in random order"},
			// A list, so that a second one is refused, not taken for the first.
			&cli.Uint64SliceFlag{Name: "crashed", Usage: "`ID` of the leader, dead at the start"},
			&cli.StringFlag{
				Name: "detector", DefaultText: "drawn, or perfect for an analysis",
				Usage: "`HOW` failure detectors behave: perfect, late, wrong or none",
			},
			&cli.BoolFlag{
				Name: "preempt", DefaultText: "drawn, or the algorithm's own for an analysis",
				Usage: "a node that ranks above the leader takes over",
			},
			&cli.DurationFlag{
				Name: "delta", DefaultText: sim.DefaultDelta.String(),
				Usage: "the worst one-way `LATENCY` that nodes plan for",
			},
			&cli.BoolFlag{
				Name:  "table",
				Usage: "print what elections without failures cost, beside theory",
			},
			&cli.BoolFlag{Name: "trace", Usage: "print every record of the run before its result"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as one line of JSON, records too"},
		},
		Action: simulate,
	}
}

func simulate(ctx *cli.Context) error {
	if ctx.Bool("table") {
		return printTable(ctx)
	}
	o, err := simOptions(ctx)
	if err != nil {
		return err
	}
	out, asJSON := ctx.App.Writer, ctx.Bool("json")
	if ctx.Int("runs") != 1 {
		return simulateMany(ctx, o)
	}
	result, err := sim.Run(o)
	if err != nil {
		return asUsage(err)
	}
	if err := writeResult(out, result, asJSON); err != nil {
		return err
	}
	leaderless := 0
	if analysis(ctx) && result.Leader == 0 {
		leaderless = 1
	}
	return failed(1, leaderless, len(result.Violations))
}

// analysis reports whether an election without faults was asked for.
func analysis(ctx *cli.Context) bool { return ctx.IsSet("initiator") || ctx.IsSet("initiators") }

// simulateMany makes many runs and sums them up; an interrupt ends it early.
func simulateMany(ctx *cli.Context, o sim.Options) error {
	interrupt, stop := signal.NotifyContext(ctx.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	collectRarely()
	summary, err := sim.Batch(interrupt, o, ctx.Int("runs"), runtime.GOMAXPROCS(0), progress(ctx))
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
		writeResult(ctx.App.Writer, summary, ctx.Bool("json")),
		err, failed(summary.Runs, leaderless, len(summary.Violations)),
	)
}

// progress counts the runs on a terminal.
func progress(ctx *cli.Context) func(done int) {
	terminal, ok := ctx.App.ErrWriter.(*os.File)
	if !ok || !isatty.IsTerminal(terminal.Fd()) {
		return nil
	}
	const every = 100
	runs := ctx.Int("runs")
	return func(done int) {
		switch {
		case done == runs:
			fmt.Fprint(terminal, "\r\033[K") // an empty line again
		case done%every == 0:
			fmt.Fprintf(terminal, "\r%d of %d runs", done, runs)
		}
	}
}

// writeResult prints what one run or many came to.
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

// failed is the error of runs that did not do what the algorithm promises.
func failed(runs, leaderless, violations int) error {
	switch {
	case leaderless > 0 && runs == 1:
		return errors.New("the election ended without a leader")
	case leaderless > 0:
		return fmt.Errorf("%d of %d elections ended without a leader", leaderless, runs)
	case violations == 1:
		return errors.New("1 violation of what the algorithm promises")
	case violations > 0:
		return fmt.Errorf("%d violations of what the algorithm promises", violations)
	}
	return nil
}

// asUsage: options that make no simulation are a mistake on the command line.
func asUsage(err error) error {
	if errors.Is(err, sim.ErrOptions) {
		return mark(errUsage, err)
	}
	return err
}

// simOptions reads the flags.
func simOptions(ctx *cli.Context) (sim.Options, error) {
	entry, err := algorithmNamed(ctx.String("algorithm"))
	if err != nil {
		return sim.Options{}, usagef("--algorithm %s: %w", ctx.String("algorithm"), err)
	}
	analysis := ctx.IsSet("initiator") || ctx.IsSet("initiators")
	switch {
	case ctx.Bool("office"):
		entry = entry.WithOffice()
	case !analysis: // which counts the messages of a nomination alone
		entry = entry.WithMending()
	}
	if ctx.Bool("fence") {
		if entry.Office && !entry.Fences {
			return sim.Options{}, usagef("--fence: %s has nobody fenced before it leads; leave it away", entry.Name)
		}
		entry = entry.WithFence()
	}
	if err := checkNumbers(ctx); err != nil {
		return sim.Options{}, err
	}
	initiators := ctx.String("initiators")
	if initiators != "" && initiators != "all" {
		return sim.Options{}, usagef("--initiators %s: only \"all\" is known; "+
			"for one of them write --initiator ID", initiators)
	}
	o := sim.Options{
		Algorithm: simulated(entry), Seed: ctx.Uint64("seed"), Nodes: ctx.Int("nodes"),
		Delta: ctx.Duration("delta"), Detector: sim.Detector(ctx.String("detector")),
		Fence:     ctx.Bool("fence"),
		Initiator: proto.NodeID(ctx.Uint64("initiator")), AllInitiate: initiators == "all",
		Shuffle: ctx.Bool("shuffle"), Crashed: crashed(ctx),
	}
	if !ctx.IsSet("seed") {
		o.Seed = rand.Uint64N(maxDrawnSeed)
	}
	if preempt := ctx.Bool("preempt"); ctx.IsSet("preempt") {
		o.Preempt = &preempt
	}
	if ctx.Bool("trace") {
		o.Trace, o.TraceJSON = ctx.App.Writer, ctx.Bool("json")
	}
	return o, nil
}

// checkNumbers refuses numbers that are out of range; an option that is not
// given is left open.
func checkNumbers(ctx *cli.Context) error {
	if n := ctx.Int("nodes"); ctx.IsSet("nodes") && (n < 1 || n > simMaxNodes) {
		return usagef("--nodes %d: give 1 to %d", n, simMaxNodes)
	}
	if n := ctx.Int("runs"); n < 1 {
		return usagef("--runs %d: give 1 or more", n)
	}
	if ctx.IsSet("initiator") && ctx.Uint64("initiator") == 0 {
		return usagef("--initiator 0: the ids begin at 1")
	}
	if d := ctx.Duration("delta"); ctx.IsSet("delta") && d <= 0 {
		return usagef("--delta %v: give more than 0s", d)
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

// crashed is the node that is dead at the start, 0 for none.
func crashed(ctx *cli.Context) proto.NodeID {
	if ids := ctx.Uint64Slice("crashed"); len(ids) > 0 {
		return proto.NodeID(ids[0])
	}
	return 0
}

func simulated(e catalog.Entry) sim.Algorithm {
	return sim.Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New, Agreement: e.Agreement,
		Office: e.Office, Own: e.Own, Promise: e.Promise, Mends: e.Mends,
	}
}
