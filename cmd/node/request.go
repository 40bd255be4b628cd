package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// requestFlags returns the flags more, and the flags of all commands that change a running node or
// its cluster.
func requestFlags(more ...cli.Flag) []cli.Flag {
	return askFlags(append(more,
		&cli.StringFlag{Name: "reason", Usage: "`TEXT` for the records: what for"}, inClearFlag())...)
}

// request sends the operator's order to a node and prints the result.
func request(ctx *cli.Context, v httpapi.Verb, o httpapi.Order) error {
	o.Reason = ctx.String("reason")
	_, err := ask(ctx, func(c httpapi.Client, ctx context.Context) (httpapi.Done, error) {
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
