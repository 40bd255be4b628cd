package main

import (
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
		Flags: []cli.Flag{addrFlag(), outputFlag()},
		Action: func(ctx *cli.Context) error {
			h, err := ask(ctx, httpapi.Client.Health, writeHealth)
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
