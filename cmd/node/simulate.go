package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/cost"
	"github.com/ringleader-dev/ringleader/internal/scenario"
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
			"stated bound; what the flags leave open is drawn from the seed. With it:\n" +
			"one election, its messages counted as the lecture notes do, and a failure\n" +
			"detector that tells the initiators only. Ends with 1 when an invariant was\n" +
			"violated, or such an election has no leader.",
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
				Usage: "`IDS` of the nodes that call the election, at one instant, as 6,12; or all",
			},
			formerFlag("initiators", "--initiator all"),
			&cli.StringFlag{
				Name: "ring",
				Usage: "with --initiator, in place of --nodes: the `IDS` of the nodes in their order on the\n" +
					"ring, as 3,32,5,80,6,12; and what ranks them, if not the id: 80:7",
			},
			&cli.BoolFlag{Name: "shuffle", Usage: "with --initiator: put the nodes on the ring in random order"},
			&cli.StringSliceFlag{Name: "crashed", Usage: "with --initiator: `IDS` of nodes dead at the start"},
			&cli.StringSliceFlag{
				Name: "crash",
				Usage: "with --initiator: a node that crashes during the election, `WHEN`: 80@ELECTED, once it has\n" +
					"sent that; or 80@150ms",
			},
			&cli.StringFlag{
				Name: "detector", DefaultText: "drawn; none with --initiator",
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
			accuracyFlag(), withoutFlag("; alone: play the story of it"),
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
	if ctx.IsSet("accuracy") {
		return printAccuracy(ctx, asJSON)
	}
	rule, mutant, err := withoutRule(ctx)
	if err != nil {
		return err
	}
	if mutant && !setBeside(ctx, "without", "output", "json", "trace") {
		return tellWithout(ctx, rule, asJSON)
	}
	o, err := simOptions(ctx)
	if err != nil {
		return err
	}
	if mutant {
		if o.Algorithm, err = leaveOut(rule, o.Algorithm); err != nil {
			return err
		}
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
	if result.Finding != "" && result.Leader == 0 {
		return fmt.Errorf("the election ended without a leader: %s", result.Finding)
	}
	leaderless := 0
	if analysis(ctx) && result.Leader == 0 {
		leaderless = 1
	}
	return errors.Join(failed(1, leaderless, len(result.Violations)), missed(result))
}

// missed returns an error if a message of --crash never came.
func missed(r sim.Result) error {
	if len(r.Missed) == 0 {
		return nil
	}
	return fmt.Errorf("--crash: %s; the election took %v", strings.Join(r.Missed, "; "),
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Millisecond))
}

// analysis reports whether the user asked for one election: with --initiator.
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
	o := sim.Options{
		Algorithm: cost.Simulated(entry), Seed: ctx.Uint64("seed"), Nodes: ctx.Int("nodes"),
		Detector: sim.Detector(ctx.String("detector")), Fence: ctx.Bool("fence"), Shuffle: ctx.Bool("shuffle"),
		AllInitiate: ctx.String("initiator") == "all",
	}
	if err := setCast(ctx, &o); err != nil {
		return sim.Options{}, err
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
	return nil
}

// setCast reads which nodes an election has, who calls it, and who crashes.
func setCast(ctx *cli.Context, o *sim.Options) (err error) {
	if ctx.IsSet("ring") {
		if o.Members, err = scenario.ParseMembers(ctx.String("ring")); err != nil {
			return usagef("--ring: %w", err)
		}
	}
	if ctx.IsSet("initiator") && !o.AllInitiate {
		if o.Initiators, err = nodeIDs(ctx.String("initiator")); err != nil {
			return usagef("--initiator: %w; or write all", err)
		}
	}
	for _, list := range ctx.StringSlice("crashed") {
		ids, err := nodeIDs(list)
		if err != nil {
			return usagef("--crashed: %w", err)
		}
		o.Crashed = append(o.Crashed, ids...)
	}
	for _, text := range ctx.StringSlice("crash") {
		crash, err := scenario.ParseCrash(text, o.Algorithm.Name)
		if err != nil {
			return usagef("--crash %s: %w", text, err)
		}
		o.Crashes = append(o.Crashes, crash)
	}
	return nil
}

// nodeIDs reads a list such as 6,12.
func nodeIDs(list string) (ids []proto.NodeID, err error) {
	for text := range strings.SplitSeq(list, ",") {
		id, err := proto.ParseNodeID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
