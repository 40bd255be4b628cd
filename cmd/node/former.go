package main

import (
	"github.com/urfave/cli/v2"
)

// formerCommands are the commands that have another place now, which is theirs.
var formerCommands = map[string]string{"compare": "ringleader bench compare"}

// formerFlag refuses a flag that has another name now, and says which.
func formerFlag(name, now string) cli.Flag {
	return &cli.BoolFlag{
		Name: name, Hidden: true, Usage: "now " + now,
		Action: func(*cli.Context, bool) error { return usagef("--%s is now %s", name, now) },
	}
}
