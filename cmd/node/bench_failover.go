package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/chart"
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
			"The floor has no containers.\n\n" +
			"Of several algorithms each gets a line, and loses a few leaders in turn. One\n" +
			"with a quorum of its own has all nodes vote.",
		Flags: benchFlags(
			benchNodesFlag(),
			&cli.StringFlag{
				Name: "algorithm", Value: "bully", Usage: "the algorithm's `NAME`, several between commas, or all",
			},
			&cli.IntFlag{Name: "kills", Value: 50, Usage: "how `MANY` leaders to take away"},
			&cli.BoolFlag{Name: "office", Usage: "let all nodes vote: a leader needs a majority"},
			&cli.StringFlag{
				Name: "signal", Value: "KILL",
				Usage: "`HOW`: KILL, STOP (it hangs), TERM (it hands over), CUT (its network;\n" +
					"root) or DOCKER (docker kill of its container)",
			},
			&cli.StringFlag{
				Name:  "against",
				Usage: "measure the ringleader at `PATH`, an older one say, too, a few times each in turn",
			},
			&cli.StringFlag{Name: "plot", Usage: "also draw the distribution into `FILE`.svg or .html"},
		),
		Action: benchFailover,
	}
}

func benchFailover(ctx *cli.Context) error {
	entries, err := algorithmsNamed("algorithm", ctx.String("algorithm"))
	if err != nil {
		return err
	}
	common, err := benchOptions(ctx, entries[0].Name)
	if err != nil {
		return err
	}
	common.Office = ctx.Bool("office") || common.Entry.Guarantee != algorithms.BestEffort
	how, err := bench.ParseSignal(ctx.String("signal"))
	if err != nil {
		return usagef("--signal %s: %w", ctx.String("signal"), err)
	}
	plot := ctx.String("plot")
	if ctx.IsSet("plot") {
		if err := chart.CheckFile(plot); err != nil {
			return usagef("--plot %s: %w", plot, err)
		}
	}
	o := bench.FailoverOptions{
		Options: common, Kills: ctx.Int("kills"), Signal: how, Against: ctx.String("against"),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		var report benchReport
		var err error
		if len(entries) > 1 || o.Against != "" {
			o.Office = ctx.Bool("office") // whose own quorum it is sees to that
			report, err = bench.FailoverAll(interrupt, o, entries)
		} else {
			report, err = bench.Failover(interrupt, o)
		}
		if done, _ := report.Count(); ctx.IsSet("plot") && done > 0 {
			err = errors.Join(err, drawPlot(plot, report))
		}
		return report, err
	})
}

// drawPlot writes the report's plot into file.
func drawPlot(file string, report benchReport) error {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("draw the plot: %w", err)
	}
	return errors.Join(report.Report().Draw(f, file), f.Close())
}
