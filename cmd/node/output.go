package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
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

// writeJSON prints v on one line.
func writeJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
