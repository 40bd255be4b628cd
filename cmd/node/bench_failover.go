package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/bench"
)

func benchFailoverCommand() *cli.Command {
	return &cli.Command{
		Name:  "failover",
		Usage: "take leaders away, time the next",
		Description: "Starts nodes as processes on this machine, takes the leader away again and\n" +
			"again, and reads from the nodes' records how long it took to detect, elect\n" +
			"and announce. After each SIGKILL the same is done to bare processes that\n" +
			"elect on the first rumour: the floor under any election on this machine.\n\n" +
			"With --signal DOCKER the nodes are containers of the Docker engine on this\n" +
			"machine, from an image of nothing but this program; network, containers and\n" +
			"image are removed at the end. Times count from the death of the container's\n" +
			"process, as the kernel tells of it; what docker kill takes until then is a\n" +
			"row of its own. A kernel closes connections first: the survivors may know a\n" +
			"little before, detect is below zero then, and the total counts from there.\n" +
			"The floor has no containers.",
		Flags: benchFlags(
			benchNodesFlag(),
			benchAlgorithmFlag(),
			&cli.IntFlag{Name: "kills", Value: 50, Usage: "how `MANY` leaders to take away"},
			&cli.BoolFlag{Name: "office", Usage: "let all nodes vote: a leader needs a majority"},
			&cli.StringFlag{
				Name: "signal", Value: "KILL",
				Usage: "`HOW`: KILL, STOP (it hangs), TERM (it hands over), CUT (its network;\n" +
					"root) or DOCKER (docker kill of its container)",
			},
			&cli.StringFlag{Name: "plot", Usage: "also draw the distribution into `FILE`.svg or .html"},
		),
		Action: benchFailover,
	}
}

func benchFailover(ctx *cli.Context) error {
	common, err := benchOptions(ctx, ctx.String("algorithm"))
	if err != nil {
		return err
	}
	common.Office = common.Office || ctx.Bool("office")
	how, err := bench.ParseSignal(ctx.String("signal"))
	if err != nil {
		return usagef("--signal %s: %w", ctx.String("signal"), err)
	}
	plot := ctx.String("plot")
	if ctx.IsSet("plot") {
		if err := bench.CheckPlot(plot); err != nil {
			return usagef("--plot %s: %w", plot, err)
		}
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		report, err := bench.Failover(interrupt, bench.FailoverOptions{
			Options: common, Kills: ctx.Int("kills"), Signal: how,
		})
		if ctx.IsSet("plot") && len(report.Samples) > 0 {
			err = errors.Join(err, drawPlot(plot, report))
		}
		return report, err
	})
}

// drawPlot writes the report's plot into file.
func drawPlot(file string, report bench.FailoverReport) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("draw the plot: %w", err)
	}
	return errors.Join(report.Plot(f, file), f.Close())
}
