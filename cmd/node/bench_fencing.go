package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

func benchFencingCommand() *cli.Command {
	return &cli.Command{
		Name:  "fencing",
		Usage: "prove that one leads, and no stale one writes",
		Description: "Starts voting nodes as processes of ringleader exec, each with a function\n" +
			"that says when it is at work; a storage (ringleader fence); and beside each\n" +
			"node a worker that writes with its node's token while that leads. Kills,\n" +
			"stalls and pauses nodes, wipes a voter's disk, restarts nodes with wrong\n" +
			"flags, has an operator transfer, resign and pause, kills the storage, and as\n" +
			"root cuts links: whole, one way, into a bridge or a star, flapping, or only\n" +
			"for new connections. Says each fault in one line, then judges: no two\n" +
			"functions at work at once, nor one while another node's lease is lent; all\n" +
			"calls of the workers are linearizable, no stale write was accepted; and had\n" +
			"the refused calls been done, it would not be so. Tells the longest time in\n" +
			"which nobody led although some node reached a majority, and its faults.\n\n" +
			"Ends with 1 when that does not hold; then it says how to see it again, and\n" +
			"where it left the nodes' logs. The algorithms share the time.",
		Flags: benchFlags(
			benchNodesFlag(),
			benchAlgorithmsFlag(everyAlgorithm),
			benchTimeFlag(), benchSeedFlag(),
			&cli.StringFlag{
				Name: "logs", DefaultText: "kept only when something is wrong",
				Usage: "keep the nodes' logs in directories in `DIR`",
			},
		),
		Action: benchFencing,
	}
}

// errProof is the error of a proof that failed.
var errProof = errors.New("the proof failed: see what was violated, above")

func benchFencing(ctx *cli.Context) error {
	entries, common, err := benchOptionsOfAll(ctx)
	if err != nil {
		return err
	}
	o := bench.FencingOptions{
		Options: common, Entries: entries, Time: ctx.Duration("time"), Seed: benchSeed(ctx), Keep: ctx.String("logs"),
	}
	profile, err := pacing.ProfileNamed(common.Profile)
	if err != nil {
		return err
	}
	o.Promise = 2 * profile.Budget
	if ctx.String("output") == "text" {
		o.Say = func(line string) { fmt.Fprintln(ctx.App.Writer, line) }
	}
	ok := true
	err = measure(ctx, func(interrupt context.Context) (benchReport, error) {
		report, err := bench.Fencing(interrupt, o)
		ok = report.OK()
		return report, err
	})
	if err == nil && !ok {
		return errProof
	}
	return err
}
