package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

func playCommand() *cli.Command {
	return &cli.Command{
		Name:      "play",
		Usage:     "play a scenario of crashes, cuts and lost messages",
		ArgsUsage: "FILE",
		Description: "FILE holds commands, one a line; - reads standard input. A message takes\n" +
			"half of delta, and detectors notice all within delta. Ends with 1 when the\n" +
			"run broke a rule, when something did not come out as the scenario expects,\n" +
			"and when a message never came. The commands:\n\n" + scenario.Help(),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "codes", Usage: "print the codes of the rules, not their sentences"},
			withoutFlag(""),
			outputFlag(),
		},
		Action: play,
	}
}

func play(ctx *cli.Context) error {
	files, err := interspersed(ctx)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return usagef("play: give one FILE with a scenario, or - for standard input")
	}
	script, err := readScript(files[0], ctx.App.Reader)
	if err != nil {
		return err
	}
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return err
	}
	rule, mutant, err := withoutRule(ctx)
	if err != nil {
		return err
	}
	p := sim.Player{Lookup: shaped, Out: ctx.App.Writer, JSON: asJSON, Words: !ctx.Bool("codes")}
	if mutant {
		p = rule.Player(p)
	}
	for _, step := range script.Steps {
		if !asJSON {
			tellAbout(ctx.App.Writer, step)
		}
		for _, cmd := range step.Commands {
			if err := p.Do(cmd); err != nil {
				return fmt.Errorf("%s, %w", script.Name, err)
			}
		}
	}
	if err := p.End(); err != nil {
		return fmt.Errorf("%s: %w", script.Name, err)
	}
	return nil
}

// readScript reads the scenario in a file.
func readScript(path string, stdin io.Reader) (scenario.Script, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return scenario.Script{}, mark(errUsage, fmt.Errorf("read the scenario: %w", err))
	}
	script, err := scenario.Parse(path, string(text))
	if errors.Is(err, scenario.ErrScript) {
		return script, mark(errUsage, err)
	}
	return script, err
}

// tellAbout prints what a step is about, and its commands.
func tellAbout(w io.Writer, step scenario.Step) {
	for _, line := range step.About {
		fmt.Fprintln(w, strings.TrimSpace("# "+line))
	}
	for _, cmd := range step.Commands {
		fmt.Fprintf(w, "> %s\n", cmd)
	}
}

// shaped returns an algorithm with the protection that a scenario asks for.
func shaped(s sim.Shape) (sim.Algorithm, error) {
	e, err := catalog.Lookup(s.Algorithm)
	switch {
	case s.Leased:
		e = e.WithLease()
	case s.Recovers:
		e = e.WithRecovery()
	}
	return cost.Simulated(e), err
}
