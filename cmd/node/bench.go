package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measure real processes: failovers, false alarms, proofs",
		Subcommands: []*cli.Command{
			benchFailoverCommand(),
			benchHopCommand(),
			benchScaleCommand(),
			benchAlarmsCommand(),
			benchCompareCommand(),
			benchGrowthCommand(),
			benchFencingCommand(),
			benchPartCommand(),
		},
	}
}

// benchFlags returns the flags that every benchmark has, then the benchmark's own.
func benchFlags(own ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{
			Name: "profile", Value: "lan",
			Usage: "the nodes' profile, as `NAME`: " + strings.Join(pacing.ProfileNames(), ", "),
		},
		benchOutputFlag(),
	}, own...)
}

// benchFormats are the formats of a benchmark's report.
var benchFormats = []string{"text", "json", "html"}

func benchOutputFlag() cli.Flag { return formatFlag(benchFormats) }

// benchPartCommand turns this executable into a process beside the nodes of a benchmark. No
// user calls it.
func benchPartCommand() *cli.Command {
	return &cli.Command{
		Name: "part", Hidden: true, Usage: "be a process beside the nodes", ArgsUsage: "JSON",
		Action: func(ctx *cli.Context) error {
			return asUsage(bench.RunPart(ctx.Args().First(), os.Stdin, ctx.App.Writer))
		},
	}
}

// benchSecuredFlag returns the flag of a benchmark that can measure what credentials cost.
func benchSecuredFlag() cli.Flag {
	return &cli.BoolFlag{Name: "secured", Usage: "nodes with credentials, in turn with nodes without"}
}

func benchNodesFlag() cli.Flag {
	return &cli.IntFlag{Name: "nodes", Value: 5, Usage: "`N` nodes"}
}

func benchAlgorithmsFlag(value string) cli.Flag {
	return &cli.StringFlag{
		Name: "algorithm", Value: value, Usage: "the algorithm's `NAME`, several between commas, or all",
	}
}

// benchTimeFlag returns the flag --time of a benchmark that has no end of its own: how long it runs.
func benchTimeFlag() cli.Flag {
	return &cli.DurationFlag{Name: "time", Value: 3 * time.Minute, Usage: "go on for this `TIME`"}
}

func benchSeedFlag() cli.Flag {
	return &cli.Uint64Flag{
		Name: "seed", DefaultText: "drawn and printed", Usage: "`NUMBER` that the faults follow from",
	}
}

// benchSeed returns the seed of --seed, or a random one.
func benchSeed(ctx *cli.Context) uint64 {
	if ctx.IsSet("seed") {
		return ctx.Uint64("seed")
	}
	return rand.Uint64N(maxDrawnSeed)
}

// benchOptions reads what the flags of all benchmarks say.
func benchOptions(ctx *cli.Context, algorithm string) (bench.Options, error) {
	if _, err := wordOf(ctx, "output", benchFormats...); err != nil {
		return bench.Options{}, err
	}
	profile, err := wordOf(ctx, "profile", pacing.ProfileNames()...)
	if err != nil {
		return bench.Options{}, err
	}
	entry, err := algorithmNamed(algorithm)
	if err != nil {
		return bench.Options{}, usagef("--algorithm %s: %w", algorithm, err)
	}
	self, err := os.Executable()
	if err != nil {
		return bench.Options{}, fmt.Errorf(
			"find this program's own file, to start nodes from it: %w", err)
	}
	return bench.Options{
		Binary: self, Nodes: ctx.Int("nodes"), Entry: entry, Profile: profile,
		Voters: entry.NeedsVoters(), Progress: progress(ctx),
	}, nil
}

// benchOptionsOfAll reads the flags of a benchmark of several algorithms. It returns all of these
// algorithms, and options with the first one.
func benchOptionsOfAll(ctx *cli.Context) ([]catalog.Entry, bench.Options, error) {
	entries, err := algorithmsNamed(ctx)
	if err != nil {
		return nil, bench.Options{}, err
	}
	o, err := benchOptions(ctx, entries[0].Name)
	return entries, o, err
}

// progress returns a function that shows on the terminal how many steps are done; nil if standard
// error is no terminal.
func progress(ctx *cli.Context) func(done, of int) {
	terminal, ok := ctx.App.ErrWriter.(*os.File)
	if !ok || !isatty.IsTerminal(terminal.Fd()) {
		return nil
	}
	return func(done, of int) {
		fmt.Fprint(terminal, "\r\033[K") // an empty line again
		if done < of {
			fmt.Fprintf(terminal, "%d of %d", done, of)
		}
	}
}

// benchReport is the result of a benchmark.
type benchReport interface {
	Report() chart.Report
	// Count returns how many samples there are, and how many were asked for.
	Count() (done, of int)
}

// measure runs a benchmark and prints its report. An interrupt ends the benchmark
// early: then the report has the samples taken until then.
func measure(
	ctx *cli.Context, run func(context.Context) (benchReport, error),
) error {
	interrupt, stop := signal.NotifyContext(ctx.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	report, err := run(interrupt)
	err = benchEnd(interrupt, err)
	if done, _ := report.Count(); done == 0 {
		return err
	}
	return errors.Join(writeReport(ctx, report), err)
}

// writeReport prints what was measured, as --output asks.
func writeReport(ctx *cli.Context, report benchReport) error {
	switch ctx.String("output") {
	case "json":
		return writeJSON(ctx.App.Writer, report)
	case "html":
		return report.Report().HTML(ctx.App.Writer)
	}
	return report.Report().Text(ctx.App.Writer)
}

// benchEnd returns the error that ends the command after a benchmark: nil if err is nil, otherwise an
// error that leads to the right exit code: interrupted, wrong usage, or failed.
func benchEnd(interrupt context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case interrupt.Err() != nil:
		return mark(errInterrupted, errors.New("interrupted; all processes are ended"))
	case errors.Is(err, bench.ErrOptions) || errors.Is(err, bench.ErrCapacity):
		return mark(errUsage, err)
	case errors.Is(err, compare.ErrFailed):
		return err
	}
	return fmt.Errorf("the benchmark failed: %w", err)
}
