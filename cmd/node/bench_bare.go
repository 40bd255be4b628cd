package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
)

// benchBareCommand turns this executable into one of the processes that nodes
// are compared with. No user calls it.
func benchBareCommand() *cli.Command {
	return &cli.Command{
		Name: "bare", Hidden: true, Usage: "be one bare process of the floor",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "role", Usage: "what it does"},
			&cli.IntFlag{Name: "id", Usage: "which it is"},
			&cli.StringFlag{Name: "addrs", Usage: "where all of them listen"},
		},
		Action: func(ctx *cli.Context) error {
			b := bench.Bare{
				Role: ctx.String("role"), ID: ctx.Int("id"),
				Addrs: strings.Split(ctx.String("addrs"), ","),
			}
			return b.Run(os.Stdin, ctx.App.Writer)
		},
	}
}

// bareLine is the command line for it.
func bareLine(self string, b bench.Bare) []string {
	return []string{
		self, "bench", "bare", "--role", b.Role, "--id", strconv.Itoa(b.ID),
		"--addrs", strings.Join(b.Addrs, ","),
	}
}
