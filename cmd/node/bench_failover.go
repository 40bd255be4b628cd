package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
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
			benchAlgorithmsFlag("bully"),
			&cli.IntFlag{Name: "kills", Value: 50, Usage: "`N` leaders to take away"},
			&cli.StringFlag{
				Name: "voters", Value: "none", Usage: "`WHO` votes: none, or all nodes: a leader needs a majority",
			},
			formerFlag("office", "--voters all"),
			&cli.StringFlag{
				Name: "signal", Value: "KILL",
				Usage: "`HOW`: KILL, STOP (it hangs), TERM (it hands over), CUT (its network;\n" +
					"root) or DOCKER (docker kill of its container)",
			},
			&cli.StringFlag{
				Name:  "against",
				Usage: "executable `FILE` of another build, measured a few times in turn with this one",
			},
			formerFlag("plot", "--output html"),
		),
		Action: benchFailover,
	}
}

func benchFailover(ctx *cli.Context) error {
	entries, common, err := benchOptionsOfAll(ctx)
	if err != nil {
		return err
	}
	voters, err := wordOf(ctx, "voters", "none", "all")
	if err != nil {
		return err
	}
	common.Voters = voters == "all"
	how, err := bench.ParseSignal(ctx.String("signal"))
	if err != nil {
		return usagef("--signal %s: %w", ctx.String("signal"), err)
	}
	o := bench.FailoverOptions{
		Options: common, Kills: ctx.Int("kills"), Signal: how, Against: ctx.String("against"),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		table, err := bench.Failover(interrupt, o, entries)
		if len(table.Rows) == 1 {
			return table.Rows[0], err
		}
		return table, err
	})
}
