package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/bench"
)

func benchFencingCommand() *cli.Command {
	return &cli.Command{
		Name:  "fencing",
		Usage: "prove that no stale leader writes",
		Description: "Starts voting nodes and a storage (ringleader fence) as processes, and beside\n" +
			"each node a worker that writes with its node's token while that leads. Kills\n" +
			"and pauses nodes with their workers, cuts networks (as root), kills the\n" +
			"storage; then checks that all that the workers saw is linearizable and that\n" +
			"no stale write was accepted. Ends with 1 when that does not hold, or when the\n" +
			"same calls do not look wrong once the refused writes are taken for done.",
		Flags: benchFlags(
			benchNodesFlag(),
			benchAlgorithmFlag(),
			&cli.DurationFlag{Name: "time", Value: 3 * time.Minute, Usage: "for how `LONG`"},
			&cli.Uint64Flag{
				Name: "seed", DefaultText: "drawn and printed",
				Usage: "`NUMBER` that the faults follow from",
			},
		),
		Action: benchFencing,
	}
}

// errProof: the history is not as it should be.
var errProof = errors.New("the proof failed: see linearizable, stale writes and control above")

func benchFencing(ctx *cli.Context) (err error) {
	common, err := benchOptions(ctx, ctx.String("algorithm"))
	if err != nil {
		return err
	}
	o := bench.FencingOptions{Options: common, Time: ctx.Duration("time"), Seed: ctx.Uint64("seed")}
	o.Work = func(w bench.Worker) []string { return workerLine(common.Binary, w) }
	if !ctx.IsSet("seed") {
		o.Seed = rand.Uint64N(maxDrawnSeed)
	}
	if o.Dir, err = os.MkdirTemp("", "ringleader-fencing-"); err != nil {
		return fmt.Errorf("make a directory for the storage: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	ok := false
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

// benchWorkerCommand turns this executable into a worker beside a node. No user
// calls it.
func benchWorkerCommand() *cli.Command {
	return &cli.Command{
		Name: "worker", Hidden: true, Usage: "be the worker beside one node",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "node", Usage: "where its node serves HTTP"},
			&cli.StringFlag{Name: "store", Usage: "where the storage is"},
			&cli.StringFlag{Name: "name", Usage: "what stands in its values"},
			&cli.DurationFlag{Name: "think", Usage: "how long before each write"},
		},
		Action: func(ctx *cli.Context) error {
			return bench.Worker{
				Node: ctx.String("node"), Store: ctx.String("store"), Name: ctx.String("name"),
				Think: ctx.Duration("think"),
			}.Run(os.Stdin, ctx.App.Writer)
		},
	}
}

// workerLine is the command line for it.
func workerLine(self string, w bench.Worker) []string {
	return []string{
		self, "bench", "worker", "--node", w.Node, "--store", w.Store, "--name", w.Name,
		"--think", w.Think.String(),
	}
}
