package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
)

func benchCompareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "put all algorithms through the same faults",
		Description: "Starts nodes as processes on this machine, for each algorithm without voters\n" +
			"and with the votes of all nodes, with --stores also on stores, and does the\n" +
			"same script of faults to each:\n" +
			"the same moments, the same pauses, the same halves, drawn from the seed. A\n" +
			"worker beside each node writes to a storage with its node's token.\n\n" +
			"The steps of a script:\n" + compareSteps() + "\n\n" +
			"A step that cannot be done is left out, and marked: cut needs root on Linux\n" +
			"and the ip command, and reaches no store; of one node nobody is left to take\n" +
			"over. A store whose server is not installed is left out, too.\n\n" +
			"Ends with 1 when a step fails, or when a storage took a stale write.",
		Flags: benchFlags(
			benchAlgorithmsFlag(everyAlgorithm), formerFlag("algorithms", "--algorithm"),
			&cli.StringFlag{
				Name: "script", Value: compare.JoinSteps(compare.Steps()),
				Usage: "`STEP,STEP,…` to do, in this order",
			},
			&cli.StringFlag{
				Name: "voters", Value: "both", Usage: "`WHO` votes: none, all nodes, or both in turn",
			},
			formerFlag("office", "--voters none, all or both"),
			&cli.StringFlag{
				Name: "stores", Value: "none",
				Usage: "`STORE,STORE,…` on which leadership stands, too, their servers started: all, none or some of " +
					strings.Join(storeserver.Kinds(), ", "),
			},
			&cli.DurationFlag{
				Name: "lease", DefaultText: "each line's own", Usage: "`TIME` of the leases of voters and of stores",
			},
			benchNodesFlag(), benchSeedFlag(),
			formerFlag("simulate", "a command, ringleader bench growth"),
			formerFlag("sizes", "a flag of ringleader bench growth"),
		),
		Action: runCompare,
	}
}

// compareSteps describes the steps of a script, one line each.
func compareSteps() string {
	var lines []string
	for _, s := range compare.Steps() {
		lines = append(lines, fmt.Sprintf("  %-8s %s", s, s.Does()))
	}
	return strings.Join(lines, "\n")
}

// errStale is the error of a comparison in which a storage accepted a former leader's write.
var errStale = errors.New("a storage took a stale write: see TAKEN above")

func runCompare(ctx *cli.Context) error {
	entries, common, err := benchOptionsOfAll(ctx)
	if err != nil {
		return err
	}
	o := compare.Options{Options: common, Entries: entries, Seed: benchSeed(ctx)}
	if o.Script, err = compare.ParseScript(ctx.String("script")); err != nil {
		return usagef("--script %s: %w", ctx.String("script"), err)
	}
	voters, err := wordOf(ctx, "voters", "none", "all", "both")
	if err != nil {
		return err
	}
	o.Alone, o.Voted = voters != "all", voters != "none"
	if o.Stores, err = compare.ParseStores(ctx.String("stores")); err != nil {
		return usagef("--stores %s: %w", ctx.String("stores"), err)
	}
	if o.Lease = ctx.Duration("lease"); ctx.IsSet("lease") && o.Lease <= 0 {
		return usagef("--lease %v: give a time above 0", o.Lease)
	}
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

// algorithmsNamed reads the list of names in --algorithm.
func algorithmsNamed(ctx *cli.Context) (entries []catalog.Entry, err error) {
	list := ctx.String("algorithm")
	if list == everyAlgorithm {
		return catalog.All(), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		entry, err := algorithmNamed(name)
		if err != nil {
			return nil, usagef("--algorithm %s: %w", list, err)
		}
		if slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.Name == name }) {
			return nil, usagef("--algorithm %s: %s is named twice", list, name)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}
