package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

func benchScaleCommand() *cli.Command {
	return &cli.Command{
		Name:  "scale",
		Usage: "start, failover, memory and CPU by size",
		Description: "Starts a cluster of each size, one after the other, as processes on this\n" +
			"machine, watches it while nothing happens, and kills its leader a few times.",
		Flags: benchFlags(
			algorithmFlag(),
			&cli.StringFlag{Name: "sizes", Value: "5,20,50,100", Usage: "`N,N,…` nodes, one cluster after the other"},
			&cli.IntFlag{Name: "kills", Value: 3, Usage: "`N` leaders to kill at each size"},
			&cli.DurationFlag{
				Name: "idle", Value: 10 * time.Second, Usage: "`TIME` to watch the idle nodes at each size",
			},
			benchSecuredFlag(),
		),
		Action: benchScale,
	}
}

func benchScale(ctx *cli.Context) (err error) {
	o := bench.ScaleOptions{Kills: ctx.Int("kills"), Idle: ctx.Duration("idle")}
	if o.Options, err = benchOptions(ctx, ctx.String("algorithm")); err != nil {
		return err
	}
	o.Secured = ctx.Bool("secured")
	if o.Sizes, err = wholeNumbers(ctx, "sizes"); err != nil {
		return err
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		return bench.Scale(interrupt, o)
	})
}

// wholeNumbers reads a flag whose value is a list of whole numbers.
func wholeNumbers(ctx *cli.Context, flag string) (numbers []int, err error) {
	for text := range strings.SplitSeq(ctx.String(flag), ",") {
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, usagef("--%s %s: want whole numbers between commas", flag, ctx.String(flag))
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}
