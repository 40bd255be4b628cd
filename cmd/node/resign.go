package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func resignCommand() *cli.Command {
	return &cli.Command{
		Name:  "resign",
		Usage: "make the leader step down",
		Description: "The node that is asked must lead. It hands over to the best node that is\n" +
			"eligible, or to nobody, and stands aside until resume or a restart.",
		Flags: requestFlags(),
		Action: func(ctx *cli.Context) error {
			return request(ctx, httpapi.Resign, httpapi.Order{})
		},
	}
}
