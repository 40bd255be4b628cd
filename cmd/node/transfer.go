package main

import (
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

func transferCommand() *cli.Command {
	return &cli.Command{
		Name:  "transfer",
		Usage: "hand leadership over to another node",
		Description: "Any node may be asked: it asks the leader. The successor is asked first; when\n" +
			"it is dead, no voter, not eligible, or behind, nothing changes, and this ends\n" +
			"with 1. The choice lasts while the successor leads: a higher rank does not\n" +
			"undo it.",
		Flags: requestFlags(&cli.StringFlag{
			Name: "to", DefaultText: "the best that would", Usage: "`ID` of the successor",
		}),
		Action: func(ctx *cli.Context) error {
			var o httpapi.Order
			if ctx.IsSet("to") {
				id, err := proto.ParseNodeID(ctx.String("to"))
				if err != nil {
					return usagef("--to: %w; leave --to out for the best node that would", err)
				}
				o.To = id
			}
			return request(ctx, httpapi.Transfer, o)
		},
	}
}
