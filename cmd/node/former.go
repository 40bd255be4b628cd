package main

import (
	"github.com/urfave/cli/v2"
)

// formerCommands maps the former name of each command that was moved to its name now.
var formerCommands = map[string]string{"compare": "ringleader bench compare"}

// formerFlag returns a hidden flag with a former name. Whoever uses it gets an error that says
// what it is called now.
func formerFlag(name, now string) cli.Flag {
	return &cli.BoolFlag{
		Name: name, Hidden: true, Usage: "now " + now,
		Action: func(*cli.Context, bool) error { return usagef("--%s is now %s", name, now) },
	}
}
