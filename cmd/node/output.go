package main

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v2"
)

// outputFlag chooses how a command prints its data.
func outputFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Value: "text",
		Usage: "`FORMAT` of the data: text or json",
	}
}

// wantsJSON reads --output.
func wantsJSON(ctx *cli.Context) (bool, error) {
	format := ctx.String("output")
	if err := oneOf(format, []string{"text", "json"}); err != nil {
		return false, usagef("--output %s: %w", format, err)
	}
	return format == "json", nil
}

// writeJSON prints v on one line.
func writeJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
