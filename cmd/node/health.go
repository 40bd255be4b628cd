package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

func healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "ask a node whether it is well; ends with 0 or 1",
		Description: "A node of this machine, as at 127.0.0.1, is asked without credentials, unless\n" +
			"they are given: whether it is well is no secret.",
		Flags: askFlags(),
		Action: func(ctx *cli.Context) error {
			h, err := askHealth(ctx)
			switch {
			case errors.Is(err, errUsage):
				return err
			case err != nil:
				return errors.New(err.Error()) // 1, whatever it was
			case !h.OK:
				return errTold
			}
			return nil
		},
	}
}

// askHealth asks the node whether it is well, and prints that.
func askHealth(ctx *cli.Context) (httpapi.Health, error) {
	addr, err := addrOf(ctx)
	if err != nil || ctx.IsSet("credentials") || !httpapi.OnThisMachine(addr) {
		return ask(ctx, httpapi.Client.Health, writeHealth)
	}
	return askAs(ctx, func(*cli.Context) (httpapi.Client, error) {
		return httpapi.Client{Addr: addr, Exposed: sayingExposed(ctx)}, nil
	}, func(c httpapi.Client, ctx context.Context) (httpapi.Health, error) { return probe(ctx, c) }, writeHealth)
}

// writeHealth says whether the node is well in one sentence.
func writeHealth(w io.Writer, h httpapi.Health) error {
	line := fmt.Sprintf("node %v is well", h.Self)
	if !h.OK {
		line = fmt.Sprintf("node %v is not well: %s", h.Self, h.Reason)
	}
	if h.Ineligible != "" {
		line += "; it does not stand for election: " + h.Ineligible
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
