package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measure real processes: failovers, hops, scale, alarms",
		Subcommands: []*cli.Command{
			benchFailoverCommand(),
			benchHopCommand(),
			benchScaleCommand(),
			benchAlarmsCommand(),
			benchFencingCommand(),
			benchBareCommand(),
			benchWorkerCommand(),
			benchFunctionCommand(),
		},
	}
}

// benchFlags are the flags of every benchmark, then its own.
func benchFlags(own ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "profile", Value: "lan", Usage: "the nodes' --profile `NAME`"},
		outputFlag(),
	}, own...)
}

func benchNodesFlag() cli.Flag {
	return &cli.IntFlag{Name: "nodes", Value: 5, Usage: "how `MANY` nodes"}
}

func benchAlgorithmFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "algorithm", Value: "bully", Usage: "the election algorithm's `NAME`",
	}
}

// benchOptions reads what the flags of all benchmarks say.
func benchOptions(ctx *cli.Context, algorithm string) (bench.Options, error) {
	if _, err := wantsJSON(ctx); err != nil {
		return bench.Options{}, err
	}
	if err := oneOf(ctx.String("profile"), pacing.ProfileNames()); err != nil {
		return bench.Options{}, usagef("--profile %s: %w", ctx.String("profile"), err)
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
		Binary: self, Bare: func(b bench.Bare) []string { return bareLine(self, b) },
		Nodes: ctx.Int("nodes"), Entry: entry, Profile: ctx.String("profile"), Office: entry.NeedsVoters(),
		Progress: benchProgress(ctx),
	}, nil
}

// benchProgress counts the samples on a terminal.
func benchProgress(ctx *cli.Context) func(done, of int) {
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

// benchReport is what a benchmark measured.
type benchReport interface {
	Report() chart.Report
	// Count is how many samples there are, and how many were asked for.
	Count() (done, of int)
}

// measure runs a benchmark, which an interrupt ends early, and prints what it
// has by then.
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

// benchEnd is how a benchmark ended, as an exit code has it.
func benchEnd(interrupt context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case interrupt.Err() != nil:
		return mark(errInterrupted, errors.New("interrupted; all processes are ended"))
	case errors.Is(err, bench.ErrOptions) || errors.Is(err, bench.ErrCapacity) ||
		errors.Is(err, compare.ErrOptions):
		return mark(errUsage, err)
	case errors.Is(err, compare.ErrFailed):
		return err
	}
	return fmt.Errorf("the benchmark failed: %w", err)
}
