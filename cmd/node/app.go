package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// group is a list of commands that people want for one purpose.
type group struct {
	purpose  string
	commands []*cli.Command
}

// groups returns all commands, in the order in which the help lists them.
func groups() []group {
	return []group{
		{"RUN", []*cli.Command{runCommand(), execCommand(), configCommand()}},
		{"ASK", []*cli.Command{statusCommand(), leaderCommand(), healthCommand(), leaseCommand()}},
		{"OPERATE", []*cli.Command{
			transferCommand(), resignCommand(), pauseCommand(), resumeCommand(), electCommand(),
			certsCommand(), keysCommand(), fenceCommand(), fenceAgentCommand(),
		}},
		{"UNDERSTAND", []*cli.Command{roundsCommand(), explainCommand(), whyNotCommand(), versionCommand()}},
		{"LEARN", []*cli.Command{demoCommand(), simulateCommand(), playCommand(), lectureCommand()}},
		{"MEASURE", []*cli.Command{benchCommand()}},
	}
}

// newApp returns the command line's program. It writes data to stdout and everything else to stderr.
func newApp(stdout, stderr io.Writer) *cli.App {
	all := groups()
	app := &cli.App{
		Name:                  "ringleader",
		Usage:                 "leader election you can see, measure and trust",
		CustomAppHelpTemplate: appHelp(all),
		Writer:                stdout,
		ErrWriter:             stderr,
		HideVersion:           true, // version is a command
		// Errors have their exit codes from one table: see exits.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   wrongFlag,
		Action:         wrongCommand,
	}
	for _, g := range all {
		for _, c := range g.commands {
			c.Category = strings.ToLower(g.purpose)
			prepare(c)
		}
		app.Commands = append(app.Commands, g.commands...)
	}
	cli.FlagStringer = flagHelp
	return app
}

// prepare makes the library treat every wrong word of a command as a usage
// error: by itself the library would accept a surplus argument silently.
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
	action, words := c.Action, c.ArgsUsage
	c.Action = func(ctx *cli.Context) error {
		switch {
		case words == "" && ctx.Args().Present():
			return usagef("%s takes no argument, but got %q; see %s --help",
				ctx.Command.HelpName, ctx.Args().First(), ctx.Command.HelpName)
		case words != "" && !strings.Contains(words, "--"): // else they are a command that has flags of its own
			var err error
			if ctx, err = interspersed(ctx); err != nil {
				return err
			}
			if ctx.Bool("help") {
				return cli.ShowSubcommandHelp(ctx)
			}
		}
		if err := noneEmpty(ctx); err != nil {
			return err
		}
		return action(ctx)
	}
}

// interspersed returns the context of a command whose arguments are all that is no flag, and sets the flags among
// them. The library reads flags only before the first argument, but users write them after arguments, too.
func interspersed(ctx *cli.Context) (*cli.Context, error) {
	words := []string{"--"} // no word that follows is a flag
	args := ctx.Args().Slice()
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == stdinName || !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			continue
		}
		if arg == "--" {
			words = append(words, args[i+1:]...)
			break
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := flagNamed(ctx.Command, name)
		switch {
		case f == nil:
			return nil, wrongFlag(ctx, errors.New("flag provided but not defined: -"+name), false)
		case given:
		case isSwitch(f):
			value = "true"
		case i+1 < len(args):
			i++
			value = args[i]
		default:
			return nil, wrongFlag(ctx, errors.New("flag needs an argument: -"+name), false)
		}
		if err := ctx.Set(f.Names()[0], value); err != nil {
			return nil, usagef("--%s %s: %w", name, value, err)
		}
	}
	set := flag.NewFlagSet(ctx.Command.Name, flag.ContinueOnError)
	if err := set.Parse(words); err != nil {
		return nil, err
	}
	only := cli.NewContext(ctx.App, set, ctx)
	only.Command = ctx.Command
	return only, nil
}

func flagNamed(c *cli.Command, name string) cli.Flag {
	i := slices.IndexFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return c.Flags[i]
}

func isSwitch(f cli.Flag) bool {
	_, ok := f.(*cli.BoolFlag)
	return ok
}

// mayBeEmpty lists the flags for which an empty value has a meaning.
var mayBeEmpty = []string{"reason", "cluster"}

// noneEmpty refuses a flag with an empty value: if a script's variable was never set, the command
// would silently use the default. It leaves a command with settings to resolve.
func noneEmpty(ctx *cli.Context) error {
	if flagNamed(ctx.Command, "config") != nil {
		return nil
	}
	for _, f := range ctx.Command.Flags {
		name := f.Names()[0]
		if _, ok := f.(*cli.StringFlag); ok && ctx.IsSet(name) && ctx.String(name) == "" &&
			!slices.Contains(mayBeEmpty, name) {
			return usagef("--%s '': want a value; leave --%s out for its default", name, name)
		}
	}
	return nil
}

// wrongCommand returns the error for a command line that has no known command's
// name where a command's name is expected.
func wrongCommand(ctx *cli.Context) error {
	var known []string
	for _, c := range ctx.Command.VisibleCommands() {
		known = append(known, c.Name)
	}
	if !ctx.Args().Present() {
		return usagef("%s wants a command: %s\nsee %s --help",
			ctx.Command.HelpName, strings.Join(known, ", "), ctx.Command.HelpName)
	}
	name := ctx.Args().First()
	if now, moved := formerCommands[name]; moved {
		return usagef("%s is now %s; see %s --help", name, now, now)
	}
	return usagef("unknown command %q%s\nsee %s --help",
		name, didYouMean(name, known), ctx.Command.HelpName)
}

// wrongValue matches the text with which package flag refuses a value.
const wrongValue = `^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-(\S+): `

// wrongFlag explains what package flag refused.
func wrongFlag(ctx *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		name = dashed(name)
		text = "unknown flag " + name + didYouMean(name, flagNames(ctx.Command))
		if name == "--version" || name == "-v" {
			text = "there is no such flag: the version is a command, ringleader version"
		}
		if name == "--without" {
			text = "--without: no node leaves out a rule, only the simulator does: " +
				"ringleader simulate --without, or play"
		}
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		text = dashed(name) + " needs a value"
	}
	if m := regexp.MustCompile(wrongValue).FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("%s %s: want %s", dashed(m[2]), m[1], wanted(ctx.Command, m[2], m[1]))
	}
	return usagef("%s\nsee %s --help", text, ctx.Command.HelpName)
}

// dashed returns a flag's name as a user writes it: -f, --follow.
func dashed(name string) string {
	name = strings.TrimLeft(name, "-")
	return "--"[:min(2, len(name))] + name
}

// wanted describes the values that a flag accepts, in place of one that it does not, which is quoted.
func wanted(c *cli.Command, name, quoted string) string {
	switch flagNamed(c, name).(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.DurationFlag:
		return wantedTime(strings.Trim(quoted, `"`), "100ms")
	}
	return "a whole number"
}

// aTime matches a time as time.ParseDuration reads it.
var aTime = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

// wantedTime describes times, in place of a text that time.ParseDuration refuses.
func wantedTime(text, example string) string {
	if aTime.MatchString(text) {
		return "a time of at most 2562047h: this one is too long" // what a time.Duration can be
	}
	return "a time with its unit, like " + example
}

func flagNames(c *cli.Command) []string {
	var known []string
	for _, f := range c.VisibleFlags() {
		known = append(known, "--"+f.Names()[0])
	}
	return known
}
