package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/cost"
)

func benchGrowthCommand() *cli.Command {
	return &cli.Command{
		Name:  "growth",
		Usage: "simulate what elections cost as clusters grow",
		Description: "Simulates elections without failures, the best and the worst case of each\n" +
			"algorithm: its messages, and its longest chain of them, beside theory. What\n" +
			"is too large for this machine's memory is left out, and said.",
		Flags: []cli.Flag{
			benchOutputFlag(), benchAlgorithmsFlag(everyAlgorithm),
			&cli.StringFlag{Name: "sizes", Value: "10,100,1000,10000", Usage: "`N,N,…` nodes, the smaller ones first"},
		},
		Action: benchGrowth,
	}
}

func benchGrowth(ctx *cli.Context) error {
	entries, err := algorithmsNamed(ctx)
	if err != nil {
		return err
	}
	if _, err := wordOf(ctx, "output", benchFormats...); err != nil {
		return err
	}
	sizes, err := wholeNumbers(ctx, "sizes")
	if err != nil {
		return err
	}
	o := compare.GrowthOptions{
		Entries: entries, Sizes: sizes, MemoryMiB: bench.MemoryMiB(),
		Simulate: cost.Of,
		TooLarge: func(what string) {
			fmt.Fprintf(ctx.App.ErrWriter, "ringleader: too large to be simulated: %s\n", what)
		},
		Progress: progress(ctx),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		return compare.Grow(interrupt, o)
	})
}
