package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func leaderCommand() *cli.Command {
	return &cli.Command{
		Name:  "leader",
		Usage: "ask a node who leads; ends with 6 when it knows nobody",
		Flags: askFlags(&cli.BoolFlag{
			Name: "is-me", Usage: "end with 7 unless the node that is asked is the leader",
		}),
		Action: func(ctx *cli.Context) error {
			answer, err := ask(ctx, httpapi.Client.Leader, writeLeader)
			switch {
			case err != nil:
				return err
			case ctx.Bool("is-me") && !answer.IsLeader:
				return mark(errNotLeader, errTold)
			case answer.Leader == 0:
				return mark(errNoLeader, errTold)
			}
			return nil
		},
	}
}

// writeLeader says who leads in one sentence.
func writeLeader(w io.Writer, l httpapi.Leadership) error {
	_, err := fmt.Fprintln(w, leadershipLine(l))
	return err
}

func leadershipLine(l httpapi.Leadership) string {
	if l.Leader == 0 {
		return fmt.Sprintf("nobody leads, as node %v knows: %s", l.Self, l.Reason)
	}
	line := fmt.Sprintf("node %v leads term %d (%s)", l.Leader, l.Term, l.Guarantee)
	if l.LeaderAddr != "" {
		line += " at " + l.LeaderAddr
	}
	return line
}
