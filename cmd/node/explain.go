package main

import (
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
		Flags:       []cli.Flag{clusterFilter(), formatFlag(tellFormats), theoryFlag()},
		Action:      func(ctx *cli.Context) error { return aboutTerm(ctx, tellFormats, explainRounds) },
	}
}

// explainRounds describes rounds in sentences.
func explainRounds(
	out io.Writer, format string, h *rounds.History, found []*rounds.Round, theory bool,
) error {
	return writeEach(out, h, found, func(g *rounds.Group, r *rounds.Round) error {
		if format == "json" {
			return writeJSON(out, r)
		}
		if len(found) > 1 {
			if err := report.GroupName(out, g); err != nil {
				return err
			}
		}
		return report.Explain(out, g, r, theory)
	})
}

// theoryFlag returns the flag that adds what the books say.
func theoryFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "theory", Usage: "with the rules that decided, what messages say, and the cost by the book",
	}
}
