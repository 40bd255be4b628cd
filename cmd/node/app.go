package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// newApp is the command line. Data goes to stdout, everything else to stderr.
func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:        "ringleader",
		Usage:       "leader election you can see, measure and trust",
		Description: exitCodesHelp(),
		Writer:      stdout,
		ErrWriter:   stderr,
		HideVersion: true, // version is a command
		Commands: []*cli.Command{
			runCommand(),
			execCommand(),
			statusCommand(),
			leaderCommand(),
			leaseCommand(),
			healthCommand(),
			transferCommand(),
			resignCommand(),
			pauseCommand(),
			resumeCommand(),
			roundsCommand(),
			explainCommand(),
			whyNotCommand(),
			configCommand(),
			simulateCommand(),
			demoCommand(),
			benchCommand(),
			compareCommand(),
			fenceCommand(),
			fenceAgentCommand(),
			versionCommand(),
		},
		// Errors have their exit codes from one table: see exits.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   wrongFlag,
		Action:         wrongCommand,
	}
	for _, c := range app.Commands {
		prepare(c)
	}
	cli.FlagStringer = flagHelp
	return app
}

// prepare makes the library treat every wrong word of a command as a usage
// error: by itself it would take a stray argument silently.
func prepare(c *cli.Command) {
	c.OnUsageError = wrongFlag
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
	if c.Action == nil {
		c.Action = wrongCommand
		return
	}
	if c.ArgsUsage != "" {
		return // it takes words, and looks at them itself
	}
	action := c.Action
	c.Action = func(ctx *cli.Context) error {
		if ctx.Args().Present() {
			return usagef("%s takes no argument, but got %q; see %s --help",
				ctx.Command.HelpName, ctx.Args().First(), ctx.Command.HelpName)
		}
		return action(ctx)
	}
}

// wrongCommand is called where a command's name is wanted and no known one
// stands there.
func wrongCommand(ctx *cli.Context) error {
	var known []string
	for _, c := range ctx.Command.Subcommands {
		known = append(known, c.Name)
	}
	if !ctx.Args().Present() {
		return usagef("%s wants a command: %s\nsee %s --help",
			ctx.Command.HelpName, strings.Join(known, ", "), ctx.Command.HelpName)
	}
	name := ctx.Args().First()
	return usagef("unknown command %q%s\nsee %s --help",
		name, didYouMean(name, known), ctx.Command.HelpName)
}

// wrongValue is how package flag refuses a value.
const wrongValue = `^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-(\S+): `

// wrongFlag explains what package flag refused.
func wrongFlag(ctx *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		name = "--" + strings.TrimLeft(name, "-")
		text = "unknown flag " + name + didYouMean(name, flagNames(ctx.Command))
		if name == "--version" || name == "--v" {
			text = "there is no such flag: the version is a command, ringleader version"
		}
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		text = "--" + strings.TrimLeft(name, "-") + " needs a value"
	}
	if m := regexp.MustCompile(wrongValue).FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("--%s %s: want %s", m[2], m[1], wanted(ctx.Command, m[2]))
	}
	return usagef("%s\nsee %s --help", text, ctx.Command.HelpName)
}

// wanted is what a flag's value has to look like.
func wanted(c *cli.Command, name string) string {
	for _, f := range c.Flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.BoolFlag:
			return "true or false"
		case *cli.DurationFlag:
			return "a time with its unit, like 100ms"
		}
	}
	return "a whole number"
}

func flagNames(c *cli.Command) []string {
	var known []string
	for _, f := range c.Flags {
		known = append(known, "--"+f.Names()[0])
	}
	return known
}
