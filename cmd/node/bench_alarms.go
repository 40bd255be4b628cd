package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

func benchAlarmsCommand() *cli.Command {
	return &cli.Command{
		Name:  "alarms",
		Usage: "starve and pause healthy nodes, count false alarms",
		Flags: benchFlags(
			benchAlgorithmFlag(), benchNodesFlag(),
			&cli.DurationFlag{Name: "for", Value: 3 * time.Minute, Usage: "for how `LONG`"},
		),
		Action: func(ctx *cli.Context) error {
			options, err := benchOptions(ctx, ctx.String("algorithm"))
			if err != nil {
				return err
			}
			o := bench.AlarmsOptions{Options: options, For: ctx.Duration("for")}
			return measure(ctx, func(interrupt context.Context) (benchReport, error) {
				return bench.Alarms(interrupt, o)
			})
		},
	}
}
