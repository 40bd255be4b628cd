package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:        "explain",
		Usage:       "tell in sentences how one election went",
		ArgsUsage:   "TERM " + logsUsage,
		Description: logsHelp,
		Flags:       []cli.Flag{clusterFilter(), formatFlag(tellFormats)},
		Action:      func(ctx *cli.Context) error { return aboutTerm(ctx, tellFormats, explainRounds) },
	}
}

// explainRounds tells rounds in sentences.
func explainRounds(
	out io.Writer, format string, _ *rounds.History, found []*rounds.Round,
) error {
	for i, r := range found {
		if format == "json" {
			if err := writeJSON(out, r); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := report.Explain(out, r); err != nil {
			return err
		}
	}
	return nil
}
