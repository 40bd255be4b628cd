package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
)

// printTable prints what elections without failures cost, as they are simulated,
// beside theory: of one algorithm if it was asked for, else of all. It is Markdown.
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
	if _, err := fmt.Fprint(ctx.App.Writer, text); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d figures are not what theory says", wrong)
	}
	return nil
}
