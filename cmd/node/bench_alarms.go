package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

func benchAlarmsCommand() *cli.Command {
	return &cli.Command{
		Name:  "alarms",
		Usage: "starve and pause healthy nodes, count false alarms",
		Description: "Loads the processors and stops nodes for a moment, none of which fails, and\n" +
			"counts the suspicions and the elections that come of it: all are false.",
		Flags: benchFlags(
			algorithmFlag(), benchNodesFlag(), benchTimeFlag(), formerFlag("for", "--time"),
		),
		Action: func(ctx *cli.Context) error {
			options, err := benchOptions(ctx, ctx.String("algorithm"))
			if err != nil {
				return err
			}
			o := bench.AlarmsOptions{Options: options, For: ctx.Duration("time")}
			return measure(ctx, func(interrupt context.Context) (benchReport, error) {
				return bench.Alarms(interrupt, o)
			})
		},
	}
}
