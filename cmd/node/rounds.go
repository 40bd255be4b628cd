package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/follow"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// verdict returns the error for --check. It returns nil if there are no findings or --check was not
// given.
func verdict(ctx *cli.Context, found rounds.Tally) error {
	if !ctx.Bool("check") || found.N == 0 {
		return nil
	}
	return found
}

// logsUsage describes the arguments of the commands that read logs.
const logsUsage = "[FILE | DIRECTORY | -]..."

const logsHelp = "Logs come from files, directories or standard input, in whatever shape they\n" +
	"have: JSON lines with docker's, journald's or Kubernetes' prefixes, several\n" +
	"nodes mixed, what a node prints on a terminal, a simulated run with --trace.\n" +
	"What is no record is passed over. Flags may stand anywhere."

func roundsCommand() *cli.Command {
	return &cli.Command{
		Name:      "rounds",
		Usage:     "list the elections that logs tell of, one line each",
		ArgsUsage: logsUsage,
		Description: logsHelp + "\n\n" +
			"--check ends with a code of its own for each kind of finding; with several,\n" +
			"the one that stands first here, the gravest:\n" + findingsHelp(),
		Flags: []cli.Flag{
			clusterFilter(), formatFlag(listFormats),
			&cli.BoolFlag{Name: "check", Usage: "end with the code of the gravest finding, 0 without one"},
			&cli.StringFlag{
				Name: "since", Usage: "only what began, or went on without a leader, at this `TIME` or later: " +
					"15:04:05, a date and time, or 10m",
			},
			&cli.StringFlag{Name: "until", Usage: "only what began at this `TIME` or before"},
			&cli.IntFlag{
				Name: "last", Usage: "only the last `N` lines; 0 for all", Value: pageful,
				DefaultText: fmt.Sprintf("%d, and all of them as json and html", pageful),
			},
			&cli.BoolFlag{Name: "findings", Usage: "only what is wrong"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on reading, print each round as it ends"},
		},
		Action: listRounds,
		Subcommands: []*cli.Command{{
			Name:        "show",
			Usage:       "show the whole of one round: its TERM, or last",
			ArgsUsage:   "TERM " + logsUsage,
			Description: logsHelp,
			Flags:       []cli.Flag{clusterFilter(), formatFlag(showFormats), theoryFlag()},
			Action:      func(ctx *cli.Context) error { return aboutTerm(ctx, showFormats, drawRounds) },
		}, recordCommand()},
	}
}

func clusterFilter() cli.Flag {
	return &cli.StringFlag{
		Name: "cluster", DefaultText: "all",
		Usage: "only what is of the cluster with this `LABEL`",
	}
}

// findingsHelp lists the findings and what they mean.
func findingsHelp() string {
	var b strings.Builder
	for _, f := range rounds.FindingKinds {
		fmt.Fprintf(&b, "  %d  %-20s %s\n", f.Code, f.Name, f.Meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// listRounds prints one line for each round.
func listRounds(ctx *cli.Context) error {
	words := ctx.Args().Slice()
	format, err := formatOf(ctx, listFormats)
	if err != nil {
		return err
	}
	if err := showMeant(ctx, words); err != nil {
		return err
	}
	if ctx.Bool("follow") {
		if err := followable(ctx, format); err != nil {
			return err
		}
		return followRounds(ctx, words, format)
	}
	which, err := selection(ctx, format)
	if err != nil {
		return err
	}
	shown := which
	bounds := listBounds(format, &shown)
	h, unread, err := readLogs(ctx, words, func() *rounds.Builder {
		shown = which
		return builderFor(format)
	}, bounds)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		err = writeJSON(ctx.App.Writer, report.Select(h, which))
	case "html":
		err = render.HTML(ctx.App.Writer, report.Select(h, which))
	default:
		err = writeRounds(ctx.App.Writer, ctx.App.ErrWriter, h, shown)
	}
	var found rounds.Tally
	for _, g := range h.Groups {
		found.Add(shown.Found(g)...)
	}
	return errors.Join(err, verdict(ctx, found), unread)
}

// listBounds returns the bounds for a list in the format; nil if all rounds are part of it, with their steps.
func listBounds(format string, shown *report.Selection) *rounds.Bounds {
	bounds := &rounds.Bounds{Records: heldRecords}
	switch {
	case format == "text":
		bounds.Records = listedRecords
		bounds.Retain = func(over []*rounds.Round) []*rounds.Round { return shown.Retain(over) }
		return bounds
	case format == "html":
		bounds.Retain = func(over []*rounds.Round) []*rounds.Round { return shown.RetainWhole(over) }
		if !shown.OfTheDay() {
			bounds.Newest = render.MaxPictured
		}
	case shown.Limited(), shown.Findings, shown.Last > 0:
		bounds.Retain = func(over []*rounds.Round) []*rounds.Round { return shown.RetainWhole(over) }
	default:
		return nil
	}
	bounds.Steps, bounds.Whole = func(uint64) bool { return true }, true
	return bounds
}

// followable returns an error for what does not go with --follow.
func followable(ctx *cli.Context, format string) error {
	if format == "html" {
		return usagef("--follow prints rounds as they end, and a page is whole: leave one of " +
			"--follow and -o html out")
	}
	for _, name := range []string{"since", "until", "last", "findings"} {
		if ctx.IsSet(name) {
			return usagef("--follow prints all rounds as they end, and --%s chooses some: leave one of them out", name)
		}
	}
	return nil
}

// followRounds prints each round as it ends, until the sources end or a signal
// comes.
func followRounds(ctx *cli.Context, words []string, format string) error {
	collectRarely()
	files, unread, err := sources(ctx, words)
	if err != nil {
		return err
	}
	stopped, stop := signal.NotifyContext(ctx.Context, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	found, err := follow.Run(stopped, follow.Config{
		Files: files, Paths: directories(words), Stdin: os.Stdin, Builder: builderFor(format), JSON: format == "json",
		Filter: func(to logs.Sink) logs.Sink { return filtered(ctx, to) },
		Out:    ctx.App.Writer, Remarks: ctx.App.ErrWriter,
		Unread: func(err error) { unread = complain(ctx, err) },
	})
	return errors.Join(err, verdict(ctx, found), unread)
}

// directories returns those of the words that name directories.
func directories(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		info, err := os.Stat(word)
		return err != nil || !info.IsDir()
	})
}

// showMeant returns an error if the first word is a term and there is no such file: the user
// meant "rounds show".
func showMeant(ctx *cli.Context, words []string) error {
	if len(words) == 0 {
		return nil
	}
	if _, err := termNamed(words[0]); err != nil {
		return nil //nolint:nilerr // no term: a file, then
	}
	if _, err := os.Stat(words[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return usagef("there is no file %s; for the round of that term: %s show %s",
		words[0], ctx.Command.HelpName, strings.Join(words, " "))
}

// writeRounds prints the rounds of all groups to out. It prints to remarks what the logs
// do not show.
func writeRounds(out, remarks io.Writer, h *rounds.History, which report.Selection) error {
	for i, g := range h.Groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := report.List(out, g, which); err != nil {
			return err
		}
		if err := report.Remarks(remarks, g); err != nil {
			return err
		}
	}
	return report.Notes(remarks, h)
}

// aboutTerm reads a term and logs, and calls say with the rounds of that term: at most one
// round for each cluster.
func aboutTerm(
	ctx *cli.Context, formats []string,
	say func(out io.Writer, format string, h *rounds.History, found []*rounds.Round, theory bool) error,
) error {
	words := ctx.Args().Slice()
	format, err := formatOf(ctx, formats)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return usagef("%s wants a TERM, or last; see %s --help", ctx.Command.HelpName, ctx.Command.HelpName)
	}
	term, err := termNamed(words[0])
	if err != nil {
		return err
	}
	picked := picker{term: term}
	bounds := picked.bounds()
	bounds.Whole = format == "html" // a page also has what is about other rounds
	h, unread, err := readLogs(ctx, words[1:], rounds.NewBuilder, bounds)
	if err != nil {
		return err
	}
	found, err := picked.from(h, words[0])
	if err != nil {
		return errors.Join(err, unread)
	}
	if err := report.Notes(ctx.App.ErrWriter, h); err != nil {
		return err
	}
	return errors.Join(say(ctx.App.Writer, format, h, found, ctx.Bool("theory")), unread)
}

// fromTerminal reports whether standard input is a terminal.
func fromTerminal() bool { return isatty.IsTerminal(os.Stdin.Fd()) }

// nothingPiped reports whether standard input is a device and neither a pipe nor a file: a
// terminal, or /dev/null as in a service or a container.
func nothingPiped() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The output formats of a list of all rounds, of one whole round, and of one round in sentences.
var (
	listFormats = []string{"text", "json", "html"}
	showFormats = []string{"text", "json", "mermaid", "svg", "html"}
	tellFormats = dataFormats
)

// formatOf reads --output.
func formatOf(ctx *cli.Context, formats []string) (string, error) {
	format := ctx.String("output")
	if !slices.Contains(formats, format) && slices.Contains(showFormats, format) {
		return "", usagef("--output %s is a picture of one round: "+
			"ringleader rounds show TERM -o %s", format, format)
	}
	return wordOf(ctx, "output", formats...)
}

// drawRounds writes rounds with all their steps, in the given format.
func drawRounds(
	out io.Writer, format string, h *rounds.History, found []*rounds.Round, theory bool,
) error {
	switch format {
	case "html":
		return render.HTML(out, justThese(h, found))
	case "mermaid", "svg":
		if len(found) > 1 {
			return usagef("--output %s is a picture of one round, and the logs tell of %d with that "+
				"term: choose with --cluster, or read only the logs of one era", format, len(found))
		}
	}
	return writeEach(out, h, found, func(g *rounds.Group, r *rounds.Round) error {
		return drawRound(out, format, g, r, theory)
	})
}

// writeEach writes rounds of the history with an empty line between them.
func writeEach(
	out io.Writer, h *rounds.History, found []*rounds.Round, write func(*rounds.Group, *rounds.Round) error,
) error {
	for i, r := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		of := slices.IndexFunc(h.Groups, func(g *rounds.Group) bool { return slices.Contains(g.Rounds, r) })
		if err := write(h.Groups[of], r); err != nil {
			return err
		}
	}
	return nil
}

func drawRound(out io.Writer, format string, g *rounds.Group, r *rounds.Round, theory bool) error {
	switch format {
	case "json":
		return writeJSON(out, r)
	case "mermaid":
		return render.Mermaid(out, r)
	case "svg":
		return render.SVG(out, r)
	}
	if err := report.Show(out, g, r, theory); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return render.Text(out, r, textColumns)
}

// textColumns is the width of a diagram in text, in columns.
const textColumns = 80

// justThese returns a history that has only the rounds in found.
func justThese(h *rounds.History, found []*rounds.Round) *rounds.History {
	part := *h
	part.Groups = nil
	for _, g := range h.Groups {
		one := *g
		one.Rounds = slices.DeleteFunc(slices.Clone(g.Rounds), func(r *rounds.Round) bool {
			return !slices.Contains(found, r)
		})
		if len(one.Rounds) > 0 {
			part.Groups = append(part.Groups, &one)
		}
	}
	return &part
}
