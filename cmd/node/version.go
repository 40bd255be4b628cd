package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// build is what the binary knows of its making.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // with changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

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
				return writeJSON(ctx.App.Writer, readBuild())
			}
			_, err = fmt.Fprintln(ctx.App.Writer, readBuild())
			return err
		},
	}
}

func readBuild() build {
	b := build{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	text := "ringleader " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			text += " with changes"
		}
	}
	return text + ", " + b.Go + ", " + b.Platform
}
