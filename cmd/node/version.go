package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/buildinfo"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print what this binary was built from",
		Flags: []cli.Flag{
			outputFlag(),
			&cli.BoolFlag{Name: "sbom", Usage: "print the bill of materials, as JSON in the form CycloneDX 1.5"},
		},
		Action: func(ctx *cli.Context) error {
			asJSON, err := wantsJSON(ctx)
			if err != nil {
				return err
			}
			if ctx.Bool("sbom") {
				if ctx.IsSet("output") && !asJSON {
					return usagef("--sbom is JSON: leave --output out")
				}
				bom, err := buildinfo.ReadSBOM()
				if err != nil {
					return err
				}
				return writeJSON(ctx.App.Writer, bom)
			}
			if asJSON {
				return writeJSON(ctx.App.Writer, buildinfo.Read())
			}
			_, err = fmt.Fprintln(ctx.App.Writer, buildinfo.Read())
			return err
		},
	}
}
