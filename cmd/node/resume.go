package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func resumeCommand() *cli.Command {
	return &cli.Command{
		Name:  "resume",
		Usage: "end a pause, or what a resignation left",
		Description: "A node that ranks above the leader takes over after it only where run\n" +
			"--preempt is on.",
		Flags: requestFlags(clusterFlag("end the pause of the whole cluster")),
		Action: func(ctx *cli.Context) error {
			return request(ctx, httpapi.Resume, httpapi.Order{Cluster: ctx.Bool("cluster")})
		},
	}
}
