package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
	real "github.com/ringleader-dev/ringleader/internal/play"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

func playCommand() *cli.Command {
	return &cli.Command{
		Name:      "play",
		Usage:     "play a scenario of crashes, cuts and lost messages",
		ArgsUsage: "FILE",
		Description: "FILE holds commands, one a line; - reads standard input. A message takes\n" +
			"half of delta, and detectors notice all within delta. Ends with 1 when the\n" +
			"run broke a rule, when something did not come out as the scenario expects,\n" +
			"and when a message never came. With --real the same is played by processes\n" +
			"on this machine, and compared message by message. The commands:\n\n" +
			scenario.Help() + "\n" + realHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "real", Usage: "play it with real processes, too, and print both side by side"},
			&cli.BoolFlag{Name: "same", Usage: "with --real: end with 1 if other messages were sent"},
			&cli.BoolFlag{Name: "codes", Usage: "print the codes of the rules, not their sentences"},
			withoutFlag(""),
			&cli.DurationFlag{
				Name: "failover-budget", DefaultText: "500ms",
				Usage: "with --real: `TIME` in which a leader that hangs is replaced; more of it on a busy machine",
			},
			outputFlag(),
		},
		Action: play,
	}
}

func play(ctx *cli.Context) error {
	files := ctx.Args().Slice()
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
	switch {
	case ctx.Bool("real") && asJSON:
		return usagef("play --real prints text: leave -o json out")
	case ctx.Bool("real") && mutant:
		return usagef("--without: no node leaves out a rule, only the simulator does: leave --real out")
	case ctx.Bool("real"):
		return playReal(ctx, script)
	case ctx.Bool("same"), ctx.IsSet("failover-budget"):
		return usagef("play --same and --failover-budget are for real processes: give --real, too")
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

const realHelp = `With --real, campaign, resign, leave, transfer, bar and unbar are requests to
a process; a crash kills it, at the named message as soon as its record shows
it; pause stops it; cuts need root on Linux, with ip and nft. run and at wait
in real time, where messages take less than a millisecond. Of each message:

       3  6 > 12 ELECTION           sent on both sides
  -    4  12 > 32 ELECTION          in virtual time alone
  +       12 > 80 ELECTION, term +2 in reality alone

Two messages are the same if sender, receiver, kind and term are, and their
order among those from that sender to that receiver: on different ways they
may overtake each other. Terms count from the last agreement, and +1 is left
out. What a leader sends on a timer, and the answers, are left out, unless a
node's leader changes by them: heartbeats, renewed leases, repeated
announcements. That messages differ is no error, without --same; that an
expectation fails is one, or that the processes do not agree.`

// playReal plays the script also with real processes, until its end or a signal.
func playReal(ctx *cli.Context, script scenario.Script) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	told, cancel := context.WithCancelCause(ctx.Context)
	defer cancel(nil)
	defer cancelOnSignal(cancel)()
	cfg := real.Config{Binary: self, Lookup: shaped, Out: ctx.App.Writer, Same: ctx.Bool("same")}
	if ctx.IsSet("failover-budget") {
		cfg.Args = []string{"--failover-budget", ctx.Duration("failover-budget").String()}
	}
	err = real.Run(told, cfg, script)
	if cause := context.Cause(told); cause != nil {
		return cause // it explains what else went wrong
	}
	if errors.Is(err, real.ErrUnreal) || errors.Is(err, testcluster.ErrCut) {
		return mark(errUsage, err)
	}
	return err
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
