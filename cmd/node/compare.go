package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "put all algorithms through the same faults, side by side",
		Description: "Starts nodes as processes on this machine, for each algorithm without voters\n" +
			"and with an office of all nodes, and does the same script of faults to each:\n" +
			"the same moments, the same pauses, the same halves, drawn from the seed. A\n" +
			"worker beside each node writes to a storage with its node's token.\n\n" +
			"The steps of a script:\n" + compareSteps() + "\n\n" +
			"A step that cannot be done is left out, and marked: cut needs root on Linux\n" +
			"and the ip command; of one node nobody is left to take over.\n\n" +
			"With --simulate: what elections without failures cost in the simulator, as\n" +
			"the number of nodes grows.\n\n" +
			"Ends with 1 when a step fails, or when a storage took a stale write.",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "algorithms", Value: everyAlgorithm, Usage: "`NAME,NAME,…` of the catalogue, or all",
			},
			&cli.StringFlag{
				Name: "script", Value: compare.JoinSteps(compare.Steps()),
				Usage: "`STEP,STEP,…`: the faults, in this order",
			},
			&cli.StringFlag{Name: "office", Value: "both", Usage: "`HOW`: on, off, or both in turn"},
			benchNodesFlag(),
			&cli.StringFlag{Name: "profile", Value: "lan", Usage: "the nodes' --profile `NAME`"},
			&cli.Uint64Flag{
				Name: "seed", DefaultText: "drawn and printed",
				Usage: "`NUMBER` that the moments of the faults follow from",
			},
			&cli.BoolFlag{Name: "simulate", Usage: "in the simulator, by the number of nodes"},
			&cli.StringFlag{
				Name: "sizes", Value: "10,100,1000,10000",
				Usage: "`N,N,…`: how many nodes, with --simulate",
			},
			&cli.StringFlag{
				Name: "output", Aliases: []string{"o"}, Value: "text",
				Usage: "`FORMAT` of the report: text, json or html",
			},
		},
		Action: runCompare,
	}
}

// compareSteps are the steps of a script, for people.
func compareSteps() string {
	var lines []string
	for _, s := range compare.Steps() {
		lines = append(lines, fmt.Sprintf("  %-8s %s", s, s.Does()))
	}
	return strings.Join(lines, "\n")
}

// errStale: what must not be was.
var errStale = errors.New("a storage took a stale write: see TAKEN above")

func runCompare(ctx *cli.Context) (err error) {
	if err := oneOf(ctx.String("output"), []string{"text", "json", "html"}); err != nil {
		return usagef("--output %s: %w", ctx.String("output"), err)
	}
	entries, err := algorithmsNamed("algorithms", ctx.String("algorithms"))
	if err != nil {
		return err
	}
	if ctx.Bool("simulate") {
		return compareGrowth(ctx, entries)
	}
	if ctx.IsSet("sizes") {
		return usagef("--sizes is for --simulate; processes are counted by --nodes")
	}
	o, err := compareOptions(ctx, entries)
	if err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "ringleader-compare-"); err != nil {
		return fmt.Errorf("make a directory for the storages: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	taken := 0
	err = measure(ctx, func(interrupt context.Context) (benchReport, error) {
		report, err := compare.Run(interrupt, o)
		taken = report.Accepted()
		return report, err
	})
	if taken > 0 {
		err = errors.Join(err, errStale)
	}
	return err
}

// everyAlgorithm stands for all names of the catalogue.
const everyAlgorithm = "all"

// algorithmsNamed reads the list of names that a flag has.
func algorithmsNamed(flag, list string) (entries []catalog.Entry, err error) {
	if list == everyAlgorithm {
		return catalog.All(), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		entry, err := algorithmNamed(name)
		if err != nil {
			return nil, usagef("--%s %s: %w", flag, list, err)
		}
		if slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Name == name }) {
			return nil, usagef("--%s %s: %s is named twice", flag, list, name)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// compareOptions reads the flags of a comparison of real processes.
func compareOptions(ctx *cli.Context, entries []catalog.Entry) (compare.Options, error) {
	var none compare.Options
	script, err := compare.ParseScript(ctx.String("script"))
	if err != nil {
		return none, usagef("--script %s: %w", ctx.String("script"), err)
	}
	office := ctx.String("office")
	if err := oneOf(office, []string{"on", "off", "both"}); err != nil {
		return none, usagef("--office %s: %w", office, err)
	}
	if err := oneOf(ctx.String("profile"), pacing.ProfileNames()); err != nil {
		return none, usagef("--profile %s: %w", ctx.String("profile"), err)
	}
	self, err := os.Executable()
	if err != nil {
		return none, fmt.Errorf("find this program's own file, to start nodes from it: %w", err)
	}
	o := compare.Options{
		Binary: self, Work: func(w bench.Worker) []string { return workerLine(self, w) },
		Entries: entries, Nodes: ctx.Int("nodes"), Profile: ctx.String("profile"), Script: script,
		Alone: office != "on", Office: office != "off", Seed: ctx.Uint64("seed"),
		Progress: benchProgress(ctx),
	}
	if !ctx.IsSet("seed") {
		o.Seed = rand.Uint64N(maxDrawnSeed)
	}
	return o, nil
}
