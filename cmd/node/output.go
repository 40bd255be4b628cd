package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds"
)

// dataFormats lists the output formats of a command that prints data.
var dataFormats = []string{"text", "json"}

// outputFlag returns the flag --output of a command that prints data.
func outputFlag() cli.Flag { return formatFlag(dataFormats) }

// formatFlag returns a flag --output with these formats. The first is the default.
func formatFlag(formats []string) cli.Flag {
	return &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Value: formats[0],
		Usage: "`FORMAT` of the output: " + strings.Join(formats, ", "),
	}
}

// wantsJSON reports whether --output is json.
func wantsJSON(ctx *cli.Context) (bool, error) {
	format, err := wordOf(ctx, "output", dataFormats...)
	return format == "json", err
}

// writeJSON prints v on one line. Text in it may come from logs: nothing of it steers a terminal.
func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(rounds.EscapeJSON(b), '\n'))
	return err
}
