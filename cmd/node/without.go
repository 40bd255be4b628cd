package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/ruleout"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

func withoutFlag(more string) cli.Flag {
	return &cli.StringFlag{
		Name:  "without",
		Usage: "leave out a `RULE` of the lecture notes, to see what it prevents; help lists them" + more,
	}
}

// withoutRule returns the rule of --without; given is false if there is none.
func withoutRule(ctx *cli.Context) (rule ruleout.Rule, given bool, err error) {
	if !ctx.IsSet("without") {
		return rule, false, nil
	}
	rule, err = ruleout.Lookup(ctx.String("without"))
	if err != nil {
		return rule, true, usagef("--without: %w", err)
	}
	return rule, true, nil
}

// setBeside reports whether a flag is given that is none of these.
func setBeside(ctx *cli.Context, names ...string) bool {
	for _, f := range ctx.Command.Flags {
		if name := f.Names()[0]; ctx.IsSet(name) && !slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// leaveOut returns the algorithm without the rule.
func leaveOut(r ruleout.Rule, a sim.Algorithm) (sim.Algorithm, error) {
	if r.OfStore() {
		return a, usagef("--without %s: it is a rule of %s: give --without alone, or play a scenario that writes",
			r.Name, r.Of)
	}
	a, err := r.From(a)
	if err != nil {
		return a, usagef("--without: %w", err)
	}
	return a, nil
}

// mostTold is how many lines of a story's trace are printed without --trace: rules that bound the number of
// messages have long ones.
const mostTold = 120

// tellWithout plays the story of a rule that is left out.
func tellWithout(ctx *cli.Context, r ruleout.Rule, asJSON bool) error {
	var trace bytes.Buffer
	told, err := r.Tell(sim.Player{Lookup: shaped, Words: true, JSON: asJSON}, &trace)
	if err != nil {
		return err
	}
	w := ctx.App.Writer
	if asJSON {
		if ctx.Bool("trace") {
			if _, err := io.Copy(w, &trace); err != nil {
				return err
			}
		}
		return writeJSON(w, told)
	}
	fmt.Fprintf(w, "\"%s\" (lecture notes)\nA rule of %s. Without it, %s.\n\n", told.Sentence, r.Of, told.Prevents)
	for _, line := range r.About() {
		fmt.Fprintln(w, strings.TrimSpace("# "+line))
	}
	lines := bytes.SplitAfter(trace.Bytes(), []byte("\n"))
	if !ctx.Bool("trace") && len(lines) > mostTold {
		lines = append(lines[:mostTold], fmt.Appendf(nil, "... and %d lines more, see --trace\n", len(lines)-mostTold))
	}
	_, err = fmt.Fprintf(w, "%s\nWithout the rule: %s.\nWith it: %s.\n",
		bytes.Join(lines, nil), told.Without.Says, told.With.Says)
	return err
}
