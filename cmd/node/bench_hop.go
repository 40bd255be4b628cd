package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

func benchHopCommand() *cli.Command {
	return &cli.Command{
		Name:  "hop",
		Usage: "measure a message's trip round the ring",
		Description: "Lets the ring's highest node die, come back and call an election alone, and\n" +
			"reads from its records how long ELECTION and ELECTED took to come back to it.\n" +
			"Beside it the same number of bare processes relays the same bytes.",
		Flags: benchFlags(
			benchNodesFlag(),
			&cli.IntFlag{Name: "trips", Value: 20, Usage: "`N` elections, one after the other"},
		),
		Action: func(ctx *cli.Context) error {
			o, err := benchOptions(ctx, "ring")
			if err != nil {
				return err
			}
			return measure(ctx, func(interrupt context.Context) (benchReport, error) {
				return bench.Hop(interrupt, bench.HopOptions{Options: o, Trips: ctx.Int("trips")})
			})
		},
	}
}
