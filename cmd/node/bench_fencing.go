package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

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
			"the refused calls been done, it would not be so. Explains the longest time in\n" +
			"which nobody led although some node reached a majority.\n\n" +
			"Ends with 1 when that does not hold; then it says how to see it again, and\n" +
			"where it left the nodes' logs. The algorithms share the time.",
		Flags: benchFlags(
			benchNodesFlag(),
			&cli.StringFlag{
				Name: "algorithm", Value: everyAlgorithm,
				Usage: "the algorithm's `NAME`, several between commas, or all",
			},
			&cli.DurationFlag{Name: "time", Value: 3 * time.Minute, Usage: "for how `LONG`"},
			&cli.Uint64Flag{
				Name: "seed", DefaultText: "drawn and printed",
				Usage: "`NUMBER` that the faults follow from",
			},
			&cli.StringFlag{
				Name: "logs", DefaultText: "kept only when something is wrong",
				Usage: "keep the nodes' logs in directories in `DIR`",
			},
		),
		Action: benchFencing,
	}
}

// errProof: something is not as it should be.
var errProof = errors.New("the proof failed: see what was violated, above")

func benchFencing(ctx *cli.Context) (err error) {
	entries, err := algorithmsNamed("algorithm", ctx.String("algorithm"))
	if err != nil {
		return err
	}
	common, err := benchOptions(ctx, entries[0].Name)
	if err != nil {
		return err
	}
	o := bench.FencingOptions{
		Options: common, Entries: entries, Time: ctx.Duration("time"), Seed: ctx.Uint64("seed"),
		Keep:     ctx.String("logs"),
		Work:     func(w bench.Worker) []string { return workerLine(common.Binary, w) },
		Function: func(dir string) []string { return []string{common.Binary, "bench", "function", "--dir", dir} },
	}
	for _, p := range pacing.Profiles {
		if p.Name == common.Profile {
			o.Promise = 2 * p.Budget
		}
	}
	if ctx.String("output") == "text" {
		o.Say = func(line string) { fmt.Fprintln(ctx.App.Writer, line) }
	}
	if !ctx.IsSet("seed") {
		o.Seed = rand.Uint64N(maxDrawnSeed)
	}
	if o.Dir, err = os.MkdirTemp("", "ringleader-fencing-"); err != nil {
		return fmt.Errorf("make a directory for the storage: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
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

// benchFunctionCommand turns this executable into what exec runs while a node leads. No
// user calls it.
func benchFunctionCommand() *cli.Command {
	return &cli.Command{
		Name: "function", Hidden: true, Usage: "be at work, and say so",
		Flags: []cli.Flag{&cli.StringFlag{Name: "dir", Usage: "where it says so"}},
		Action: func(ctx *cli.Context) error {
			f := bench.Function{Dir: ctx.String("dir")}
			for name, number := range map[string]*uint64{
				envName("id"): (*uint64)(&f.Node), commandTermEnv: (*uint64)(&f.Term),
			} {
				var err error
				if *number, err = strconv.ParseUint(os.Getenv(name), 10, 64); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return f.Run()
		},
	}
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
