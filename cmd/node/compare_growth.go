package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/compare"
)

// ofProcesses are the flags that say how processes are compared.
var ofProcesses = []string{"script", "office", "nodes", "profile", "seed"}

// compareGrowth simulates elections without failures.
func compareGrowth(ctx *cli.Context, entries []catalog.Entry) error {
	for _, flag := range ofProcesses {
		if ctx.IsSet(flag) {
			return usagef("--simulate counts elections without failures, of --sizes: leave --%s away", flag)
		}
	}
	sizes, err := wholeNumbers(ctx, "sizes")
	if err != nil {
		return err
	}
	o := compare.GrowthOptions{
		Entries: entries, Sizes: sizes, MemoryMiB: bench.MemoryMiB(),
		Simulate: func(e catalog.Entry, r algorithms.Run, n int) (compare.Cost, error) {
			result, err := electOnce(e, r, n)
			if err == nil && result.Leader == 0 {
				err = errors.New("the election ended without a leader")
			}
			return compare.Cost{Messages: result.Messages["total"], Times: result.TransmissionTimes}, err
		},
		TooLarge: func(what string) {
			fmt.Fprintf(ctx.App.ErrWriter, "ringleader: too large to be simulated: %s\n", what)
		},
		Progress: benchProgress(ctx),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		return compare.Grow(interrupt, o)
	})
}
