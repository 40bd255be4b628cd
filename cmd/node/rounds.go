package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

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
				Name: "since", Usage: "only what began at this `TIME` or later: 15:04:05, a date and time, or 10m",
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
	words, err := interspersed(ctx)
	if err != nil {
		return err
	}
	format, err := formatOf(ctx, listFormats)
	if err != nil {
		return err
	}
	if err := showMeant(ctx, words); err != nil {
		return err
	}
	if ctx.Bool("follow") {
		if format == "html" {
			return usagef("--follow prints rounds as they end, and a page is whole: leave one of " +
				"--follow and -o html out")
		}
		return followRounds(ctx, words, format)
	}
	which, err := selection(ctx, format)
	if err != nil {
		return err
	}
	h, unread, err := readLogs(ctx, words, builderFor(format))
	if err != nil {
		return err
	}
	switch format {
	case "json":
		err = writeJSON(ctx.App.Writer, report.Select(h, which))
	case "html":
		err = render.HTML(ctx.App.Writer, report.Select(h, which))
	default:
		err = writeRounds(ctx.App.Writer, ctx.App.ErrWriter, h, which)
	}
	var found rounds.Tally
	for _, g := range report.Select(h, report.Selection{Since: which.Since, Until: which.Until}).Groups {
		found.Add(g.Findings...)
	}
	return errors.Join(err, verdict(ctx, found), unread)
}

// pageful is how many rounds are listed unless the user wants more: as many as a person reads.
const pageful = 40

// selection reads the flags that say which rounds are listed.
func selection(ctx *cli.Context, format string) (s report.Selection, err error) {
	now := time.Now()
	if s.Since, err = timeOf("since", ctx.String("since"), now); err != nil {
		return s, err
	}
	if s.Until, err = timeOf("until", ctx.String("until"), now); err != nil {
		return s, err
	}
	if !s.Until.IsZero() && s.Until.Before(s.Since) && s.Until.Year() > 0 {
		return s, usagef("--until %s is before --since %s", ctx.String("until"), ctx.String("since"))
	}
	s.Last, s.Findings = ctx.Int("last"), ctx.Bool("findings")
	if s.Last < 0 {
		return s, usagef("--last %d: want a number from 0 on", s.Last)
	}
	if !ctx.IsSet("last") && (format != "text" || s.Findings || !s.Since.IsZero() || !s.Until.IsZero()) {
		s.Last = 0
	}
	return s, nil
}

// timeLayouts are the forms of a point in time, in UTC unless it names a zone.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly,
	time.TimeOnly, "15:04", // in the year 0: of the day of the last record
}

// timeOf reads a point in time: a date and time, a time of day, or how long ago. An empty word is the zero time.
func timeOf(flag, word string, now time.Time) (time.Time, error) {
	if word == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, word); err == nil {
			return t, nil
		}
	}
	if ago, err := time.ParseDuration(word); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, usagef("--%s %q: want a time of the last day like 15:04:05, a date and time like "+
		"2006-01-02T15:04:05Z, or how long ago, like 10m; all in UTC", flag, word)
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
		Files: files, Stdin: os.Stdin, Builder: builderFor(format), JSON: format == "json",
		Filter: func(to logs.Sink) logs.Sink { return filtered(ctx, to) },
		Out:    ctx.App.Writer, Remarks: ctx.App.ErrWriter,
		Unread: func(err error) { unread = complain(ctx, err) },
	})
	return errors.Join(err, verdict(ctx, found), unread)
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
	words, err := interspersed(ctx)
	if err != nil {
		return err
	}
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
	h, unread, err := readLogs(ctx, words[1:], rounds.NewBuilder())
	if err != nil {
		return err
	}
	found, err := roundsOf(h, term, words[0])
	if err != nil {
		return errors.Join(err, unread)
	}
	if err := say(ctx.App.Writer, format, h, found, ctx.Bool("theory")); err != nil {
		return err
	}
	return errors.Join(report.Notes(ctx.App.ErrWriter, h), unread)
}

const lastTerm = "last"

// termNamed reads a term. It returns 0 if word is "last".
func termNamed(word string) (uint64, error) {
	if word == lastTerm {
		return 0, nil
	}
	term, err := strconv.ParseUint(word, 10, 64)
	if err != nil || term == 0 {
		return 0, usagef("term %q: want a number from 1 on, or %q", word, lastTerm)
	}
	return term, nil
}

// roundsOf returns the rounds of the term, at most one per group; the last round of each group if
// term is 0. The parameter word is the term as the user wrote it.
func roundsOf(h *rounds.History, term uint64, word string) ([]*rounds.Round, error) {
	var found []*rounds.Round
	var there []string
	for _, g := range h.Groups {
		for i, r := range g.Rounds {
			there = append(there, fmt.Sprint(r.Term))
			if r.Term == term || term == 0 && i == len(g.Rounds)-1 {
				found = append(found, r)
			}
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(there) == 0:
		return nil, errors.New("the records tell of no round: nobody called an election in them")
	}
	return nil, fmt.Errorf("no round of term %s: there are %s", word, shortList(there))
}

// shortList joins the words with commas. It leaves out the middle of a long list: "1, 2, 3, … 17".
func shortList(words []string) string {
	const most = 20
	if len(words) > most {
		words = append(append(words[:most-1:most-1], "…"), words[len(words)-1])
	}
	return strings.Join(words, ", ")
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
				"term: choose with --cluster", format, len(found))
		}
	}
	return writeEach(out, found, func(r *rounds.Round) error { return drawRound(out, format, r, theory) })
}

// writeEach writes rounds with an empty line between them.
func writeEach(out io.Writer, found []*rounds.Round, write func(*rounds.Round) error) error {
	for i, r := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := write(r); err != nil {
			return err
		}
	}
	return nil
}

func drawRound(out io.Writer, format string, r *rounds.Round, theory bool) error {
	switch format {
	case "json":
		return writeJSON(out, r)
	case "mermaid":
		return render.Mermaid(out, r)
	case "svg":
		return render.SVG(out, r)
	}
	if err := report.Show(out, r, theory); err != nil {
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
