package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// findings counts what the records show that should not be. As an error it has
// the exit code of the gravest kind.
type findings struct {
	n       int
	gravest rounds.FindingKind
}

func (f *findings) add(found ...rounds.Finding) {
	for _, one := range found {
		f.n++
		f.gravest = rounds.Gravest(f.gravest.Name, one.Name)
	}
}

func (f *findings) Error() string {
	if f.n == 1 {
		return fmt.Sprintf("1 finding: %s", f.gravest.Name)
	}
	return fmt.Sprintf("%d findings, the gravest: %s", f.n, f.gravest.Name)
}

func (f *findings) code() int { return f.gravest.Code }

// verdict is the error of --check, nil when nothing was found or nobody asked.
func (f *findings) verdict(ctx *cli.Context) error {
	if !ctx.Bool("check") || f.n == 0 {
		return nil
	}
	return f
}

// logsUsage is what the commands that read logs take behind their own words.
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
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on reading, print each round as it ends"},
		},
		Action: listRounds,
		Subcommands: []*cli.Command{{
			Name:        "show",
			Usage:       "show the whole of one round: its TERM, or last",
			ArgsUsage:   "TERM " + logsUsage,
			Description: logsHelp,
			Flags:       []cli.Flag{clusterFilter(), formatFlag(showFormats)},
			Action:      showRound,
		}},
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

// listRounds prints a line a round.
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
	h, unread, err := readLogs(ctx, words, builderFor(format))
	if err != nil {
		return err
	}
	switch format {
	case "json":
		err = writeJSON(ctx.App.Writer, h)
	case "html":
		err = drawHistory(ctx.App.Writer, h)
	default:
		err = writeRounds(ctx.App.Writer, ctx.App.ErrWriter, h)
	}
	var found findings
	for _, g := range h.Groups {
		found.add(g.Findings...)
	}
	return errors.Join(err, found.verdict(ctx), unread)
}

// showMeant refuses a list of what names a round and no file: rounds show is meant.
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

// writeRounds prints the rounds of all groups, and on stderr what could not be
// known.
func writeRounds(out, remarks io.Writer, h *rounds.History) error {
	for i, g := range h.Groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := report.Header(out, g.Cluster, g.Algorithm, g.Guarantee, g.Run); err != nil {
			return err
		}
		for _, r := range g.Rounds {
			if err := report.Line(out, r); err != nil {
				return err
			}
		}
		for _, f := range report.Loose(g) {
			if err := report.Finding(out, f); err != nil {
				return err
			}
		}
		if err := report.Remarks(remarks, g); err != nil {
			return err
		}
	}
	return report.Notes(remarks, h)
}

// showRound prints the whole of one round.
func showRound(ctx *cli.Context) error {
	return aboutTerm(ctx, showFormats, drawRounds)
}

// aboutTerm reads a term and logs, and prints what is to be said of that round
// in each cluster that has it.
func aboutTerm(
	ctx *cli.Context, formats []string,
	say func(out io.Writer, format string, h *rounds.History, found []*rounds.Round) error,
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
	if _, err := termNamed(words[0]); err != nil {
		return err
	}
	h, unread, err := readLogs(ctx, words[1:], rounds.NewBuilder())
	if err != nil {
		return err
	}
	found, err := roundsNamed(h, words[0])
	if err != nil {
		return errors.Join(err, unread)
	}
	if err := say(ctx.App.Writer, format, h, found); err != nil {
		return err
	}
	return errors.Join(report.Notes(ctx.App.ErrWriter, h), unread)
}

const lastTerm = "last"

// termNamed reads a term, 0 for the last one.
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

// roundsNamed are the rounds of that term, at most one a group.
func roundsNamed(h *rounds.History, word string) ([]*rounds.Round, error) {
	term, err := termNamed(word)
	if err != nil {
		return nil, err
	}
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

// shortList is "1, 2, 3, … 17".
func shortList(words []string) string {
	const most = 20
	if len(words) > most {
		words = append(append(words[:most-1:most-1], "…"), words[len(words)-1])
	}
	return strings.Join(words, ", ")
}

// fromTerminal reports whether standard input is a person.
func fromTerminal() bool { return isatty.IsTerminal(os.Stdin.Fd()) }

// nothingPiped reports whether standard input is a terminal, or /dev/null as in a
// service or a container: a device, and neither a pipe nor a file.
func nothingPiped() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
