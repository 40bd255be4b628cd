package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func pauseCommand() *cli.Command {
	return &cli.Command{
		Name:  "pause",
		Usage: "keep a node from leading, or a cluster from electing",
		Description: "A node that is paused steps down if it leads, and does not stand until resume\n" +
			"or a restart; it votes and follows as ever. In a paused cluster no node\n" +
			"stands; who leads goes on while it lives. All learn of it, who joins later\n" +
			"too, and keep it over a restart, of all nodes as of one, until resume\n" +
			"--cluster.",
		Flags: requestFlags(clusterFlag("the whole cluster: no node stands for election")),
		Action: func(ctx *cli.Context) error {
			return request(ctx, httpapi.Pause, httpapi.Order{Cluster: ctx.Bool("cluster")})
		},
	}
}

func clusterFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "cluster", Usage: usage}
}
