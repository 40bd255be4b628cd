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
)

func benchCompareCommand() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "put all algorithms through the same faults",
		Description: "Starts nodes as processes on this machine, for each algorithm without voters\n" +
			"and with the votes of all nodes, and does the same script of faults to each:\n" +
			"the same moments, the same pauses, the same halves, drawn from the seed. A\n" +
			"worker beside each node writes to a storage with its node's token.\n\n" +
			"The steps of a script:\n" + compareSteps() + "\n\n" +
			"A step that cannot be done is left out, and marked: cut needs root on Linux\n" +
			"and the ip command; of one node nobody is left to take over.\n\n" +
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
