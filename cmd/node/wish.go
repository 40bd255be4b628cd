package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// The commands that change a running node, or its cluster.

func wishFlags(more ...cli.Flag) []cli.Flag {
	return append(more, &cli.StringFlag{
		Name: "reason", Usage: "`TEXT` for the records: what for",
	}, addrFlag(), tokenFlag(), outputFlag())
}

func transferCommand() *cli.Command {
	return &cli.Command{
		Name:  "transfer",
		Usage: "hand leadership over to another node",
		Description: "Any node may be asked: it asks the leader. The successor is asked first; when\n" +
			"it is dead, no voter, not eligible, or behind, nothing changes, and this ends\n" +
			"with 1. The choice lasts while the successor leads: a higher rank does not\n" +
			"undo it.",
		Flags: wishFlags(&cli.StringFlag{
			Name: "to", DefaultText: "the best that would", Usage: "`ID` of the successor",
		}),
		Action: func(ctx *cli.Context) error {
			var o httpapi.Order
			if ctx.IsSet("to") { // an empty one is a slip of a script, and no wish for the best
				id, err := proto.ParseNodeID(ctx.String("to"))
				if err != nil {
					return usagef("--to: %w; leave --to out for the best node that would", err)
				}
				o.To = id
			}
			return wish(ctx, httpapi.Transfer, o)
		},
	}
}

func resignCommand() *cli.Command {
	return &cli.Command{
		Name:  "resign",
		Usage: "make the leader step down",
		Description: "The node that is asked must lead. It hands over to the best node that is\n" +
			"eligible, or to nobody, and stands aside until resume or a restart.",
		Flags: wishFlags(),
		Action: func(ctx *cli.Context) error {
			return wish(ctx, httpapi.Resign, httpapi.Order{})
		},
	}
}

func pauseCommand() *cli.Command {
	return &cli.Command{
		Name:  "pause",
		Usage: "keep a node from leading, or a cluster from electing",
		Description: "A node that is paused steps down if it leads, and does not stand until resume\n" +
			"or a restart; it votes and follows as ever. In a paused cluster no node\n" +
			"stands; who leads goes on while it lives. All learn of it, who joins later\n" +
			"too, and keep it over a restart, of all nodes as of one, until resume\n" +
			"--cluster.",
		Flags: wishFlags(clusterFlag("no node elects")),
		Action: func(ctx *cli.Context) error {
			return wish(ctx, httpapi.Pause, httpapi.Order{Cluster: ctx.Bool("cluster")})
		},
	}
}

func resumeCommand() *cli.Command {
	return &cli.Command{
		Name:        "resume",
		Usage:       "end a pause, or what a resignation left",
		Description: "A node that ranks above the leader takes over only where that is switched on.",
		Flags:       wishFlags(clusterFlag("the pause of the whole cluster")),
		Action: func(ctx *cli.Context) error {
			return wish(ctx, httpapi.Resume, httpapi.Order{Cluster: ctx.Bool("cluster")})
		},
	}
}

func clusterFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "cluster", Usage: usage}
}

// wish has a node carry out what the operator wants, and says what came of it.
func wish(ctx *cli.Context, v httpapi.Verb, o httpapi.Order) error {
	token, err := clientToken(ctx)
	if err != nil {
		return err
	}
	o.Reason = ctx.String("reason")
	_, err = ask(ctx, func(c httpapi.Client, ctx context.Context) (httpapi.Done, error) {
		c.Token = token
		return c.Do(ctx, v, o)
	}, writeDone)
	if errors.Is(err, httpapi.ErrNoLeader) {
		return mark(errNoLeader, err)
	}
	return err
}

func writeDone(w io.Writer, d httpapi.Done) error {
	_, err := fmt.Fprintf(w, "%s (%.1f ms)\n", d.Done, d.Millis)
	return err
}
