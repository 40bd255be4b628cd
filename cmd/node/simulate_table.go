package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
)

// printTable prints a Markdown table: what elections without failures cost in the simulation,
// beside what theory says, and then in words when each case comes about. It has the algorithm of
// --algorithm, or all if that flag is not given.
func printTable(ctx *cli.Context) error {
	for _, f := range ctx.Command.Flags {
		flag := f.Names()[0]
		if ctx.IsSet(flag) && flag != "table" && flag != "algorithm" {
			return usagef("--table makes its own runs: leave --%s away", flag)
		}
	}
	entries := catalog.All()
	if name := ctx.String("algorithm"); ctx.IsSet("algorithm") {
		entry, err := algorithmNamed(name)
		if err != nil {
			return usagef("--algorithm %s: %w", name, err)
		}
		entries = []catalog.Entry{entry}
	}
	text, wrong, err := cost.Table(entries)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(ctx.App.Writer, "%s\n%s", text, cost.Cases(entries)); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d figures are not what theory says", wrong)
	}
	return nil
}
