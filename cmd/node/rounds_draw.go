package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// The formats of what logs tell: of all rounds, and of one.
var (
	listFormats = []string{"text", "json", "html"}
	showFormats = []string{"text", "json", "mermaid", "svg", "html"}
	tellFormats = []string{"text", "json"}
)

// formatFlag chooses among formats.
func formatFlag(formats []string) cli.Flag {
	return &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Value: formats[0],
		Usage: "`FORMAT` of the output: " + strings.Join(formats, ", "),
	}
}

// formatOf reads --output.
func formatOf(ctx *cli.Context, formats []string) (string, error) {
	format := ctx.String("output")
	if !slices.Contains(formats, format) && slices.Contains(showFormats, format) {
		return "", usagef("--output %s is a picture of one round: "+
			"ringleader rounds show TERM -o %s", format, format)
	}
	if err := oneOf(format, formats); err != nil {
		return "", usagef("--output %s: %w", format, err)
	}
	return format, nil
}

// drawHistory writes all rounds as a page.
func drawHistory(out io.Writer, h *rounds.History) error { return render.HTML(out, h) }

// drawRounds writes the whole of some rounds.
func drawRounds(out io.Writer, format string, h *rounds.History, found []*rounds.Round) error {
	switch format {
	case "html":
		return render.HTML(out, justThese(h, found))
	case "mermaid", "svg":
		if len(found) > 1 {
			return usagef("--output %s is a picture of one round, and the logs tell of %d with that "+
				"term: choose with --cluster", format, len(found))
		}
	}
	for i, r := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := drawRound(out, format, r); err != nil {
			return err
		}
	}
	return nil
}

func drawRound(out io.Writer, format string, r *rounds.Round) error {
	switch format {
	case "json":
		return writeJSON(out, r)
	case "mermaid":
		return render.Mermaid(out, r)
	case "svg":
		return render.SVG(out, r)
	}
	if err := report.Show(out, r); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return render.Text(out, r, textColumns)
}

// textColumns is how wide a diagram is drawn.
const textColumns = 80

// justThese is the history of the given rounds alone.
func justThese(h *rounds.History, found []*rounds.Round) *rounds.History {
	part := *h
	part.Groups = nil
	for _, g := range h.Groups {
		one := *g
		one.Rounds = slices.DeleteFunc(slices.Clone(g.Rounds), func(r *rounds.Round) bool {
			return !slices.Contains(found, r)
		})
		if len(one.Rounds) > 0 {
			part.Groups = append(part.Groups, &one)
		}
	}
	return &part
}
