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
		Flags: []cli.Flag{outputFlag()},
		Action: func(ctx *cli.Context) error {
			asJSON, err := wantsJSON(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(ctx.App.Writer, buildinfo.Read())
			}
			_, err = fmt.Fprintln(ctx.App.Writer, buildinfo.Read())
			return err
		},
	}
}
