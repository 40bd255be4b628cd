package main

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
)

func benchFailoverCommand() *cli.Command {
	return &cli.Command{
		Name:  "failover",
		Usage: "take leaders away, time the next",
		Description: "Starts nodes as processes on this machine, takes the leader away again and\n" +
			"again, and reads from the nodes' records how long it took to detect, elect\n" +
			"and announce. After each SIGKILL the same is done to bare processes that\n" +
			"elect on the first rumour: the floor under any election on this machine.\n\n" +
			"With --signal DOCKER the nodes are containers of the Docker engine on this\n" +
			"machine, from an image of nothing but this program; network, containers and\n" +
			"image are removed at the end. Times count from the death of the container's\n" +
			"process, as the kernel tells of it; what docker kill takes until then is a\n" +
			"row of its own. A kernel closes connections first: the survivors may know a\n" +
			"little before, detect is below zero then, and the total counts from there.\n" +
			"The floor has no containers.\n\n" +
			"Of several algorithms each gets a line, and loses a few leaders in turn. One\n" +
			"with a quorum of its own has all nodes vote.\n\n" +
			"With --store leadership stands on a store, and the same is done, in turn, to\n" +
			"candidates that are the store's own client. These have no proof that the\n" +
			"leader is dead, so they wait until the store takes its entry away.",
		Flags: benchFlags(
			benchNodesFlag(),
			benchAlgorithmsFlag("bully"),
			&cli.IntFlag{Name: "kills", Value: 50, Usage: "`N` leaders to take away"},
			&cli.StringFlag{
				Name: "voters", Value: "none", Usage: "`WHO` votes: none, or all nodes: a leader needs a majority",
			},
			formerFlag("office", "--voters all"),
			&cli.StringFlag{
				Name: "store",
				Usage: "leadership stands on this store: `WHICH` is its URL, or the kind of a server to start: " +
					strings.Join(storeserver.Kinds(), ", "),
			},
			&cli.DurationFlag{
				Name: "lease", Value: 10 * time.Second, Usage: "`TIME` for which the store keeps a leader",
			},
			&cli.IntFlag{
				Name: "rival-kills", Value: 5,
				Usage: "`N` leaders to take away of the store's own client, which waits a lease for each",
			},
			&cli.StringFlag{
				Name: "signal", Value: "KILL",
				Usage: "`HOW`: KILL, STOP (it hangs), TERM (it hands over), CUT (its network;\n" +
					"root) or DOCKER (docker kill of its container)",
			},
			&cli.StringFlag{
				Name:  "against",
				Usage: "executable `FILE` of another build, measured a few times in turn with this one",
			},
			benchSecuredFlag(),
			formerFlag("plot", "--output html"),
		),
		Action: benchFailover,
	}
}

func benchFailover(ctx *cli.Context) error {
	entries, common, err := benchOptionsOfAll(ctx)
	if err != nil {
		return err
	}
	if ctx.IsSet("store") {
		return benchStore(ctx, entries, common)
	}
	for _, name := range []string{"lease", "rival-kills"} {
		if ctx.IsSet(name) {
			return usagef("--%s has no effect without --store", name)
		}
	}
	voters, err := wordOf(ctx, "voters", "none", "all")
	if err != nil {
		return err
	}
	common.Voters, common.Secured = voters == "all", ctx.Bool("secured")
	how, err := bench.ParseSignal(ctx.String("signal"))
	if err != nil {
		return usagef("--signal %s: %w", ctx.String("signal"), err)
	}
	o := bench.FailoverOptions{
		Options: common, Kills: ctx.Int("kills"), Signal: how, Against: ctx.String("against"),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		table, err := bench.Failover(interrupt, o, entries)
		if len(table.Rows) == 1 {
			return table.Rows[0], err
		}
		return table, err
	})
}

// benchStore measures failovers on a store.
func benchStore(ctx *cli.Context, entries []catalog.Entry, common bench.Options) error {
	for _, name := range []string{"voters", "signal", "against", "secured"} {
		if ctx.IsSet(name) {
			return usagef("--store --%s: leave one of the two out", name)
		}
	}
	if len(entries) > 1 {
		return usagef("--store --algorithm %s: name one", ctx.String("algorithm"))
	}
	o := bench.StoreOptions{
		Options: common, Store: ctx.String("store"), Lease: ctx.Duration("lease"),
		Kills: ctx.Int("kills"), RivalKills: ctx.Int("rival-kills"),
	}
	return measure(ctx, func(interrupt context.Context) (benchReport, error) {
		return bench.StoreFailover(interrupt, o)
	})
}
