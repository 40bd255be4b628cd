package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/survey"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

func whyNotCommand() *cli.Command {
	return &cli.Command{
		Name:      "why-not",
		Usage:     "say why a NODE does not lead: from logs, or by asking",
		ArgsUsage: "NODE " + logsUsage,
		Description: logsHelp + "\n\n" +
			"With --addr a running node is asked, and through it all it believes alive.\n" +
			"Give it again for a node that they do not know. Without it, without logs and\n" +
			"with nothing piped in, $" + addrEnv + " is asked, if that is set.",
		Flags: []cli.Flag{
			clusterFilter(),
			&cli.StringSliceFlag{Name: "addr", Usage: "`HOST:PORT` where a node serves HTTP: ask it"},
			credentialsFlag(), tokenFlag(),
		},
		Action: whyNot,
	}
}

func whyNot(ctx *cli.Context) error {
	words := ctx.Args().Slice()
	if len(words) == 0 {
		return usagef("%s wants the id of a NODE; see %s --help", ctx.Command.HelpName, ctx.Command.HelpName)
	}
	id, err := proto.ParseNodeID(words[0])
	if err != nil {
		return usagef("node %q: %w", words[0], err)
	}
	addresses := ctx.StringSlice("addr")
	if len(addresses) > 0 && len(words) > 1 {
		return usagef("give logs or --addr, not both")
	}
	for _, addr := range addresses {
		if err := checkAddr("--addr", addr); err != nil {
			return mark(errUsage, err)
		}
	}
	if addr := os.Getenv(addrEnv); addr != "" && len(addresses) == 0 && len(words) == 1 && nothingPiped() {
		addresses = []string{addr}
	}
	if len(addresses) > 0 {
		all, err := asking(ctx)
		if err != nil {
			return err
		}
		return survey.WhyNot(ctx.Context, ctx.App.Writer, all, addresses, id)
	}
	h, unread, err := readLogs(ctx, words[1:], rounds.NewBuilder, &rounds.Bounds{
		Records: heldRecords, Steps: func(uint64) bool { return true }, Retain: report.Lately, About: uint64(id),
	})
	if err != nil {
		return err
	}
	return errors.Join(report.Notes(ctx.App.ErrWriter, h), whyNotIn(ctx.App.Writer, h, uint64(id)), unread)
}

// whyNotIn says for each group that knows the node why it does not lead. Only the last era of a cluster counts. If no
// group knows the node, the error lists the nodes that there are.
func whyNotIn(w io.Writer, h *rounds.History, id uint64) error {
	now := slices.DeleteFunc(slices.Clone(h.Groups), func(g *rounds.Group) bool { return !g.Replaced.IsZero() })
	knows := slices.DeleteFunc(slices.Clone(now), func(g *rounds.Group) bool {
		return !report.Knows(g, id)
	})
	if len(knows) == 0 {
		var there []string
		for _, g := range now {
			for _, n := range g.Nodes {
				there = append(there, fmt.Sprint(n.ID))
			}
		}
		return fmt.Errorf("node %d was never heard of: no record is its own, and none names it; there are %s",
			id, shortList(there))
	}
	for i, g := range knows {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if len(now) > 1 {
			if err := report.GroupName(w, g); err != nil {
				return err
			}
		}
		if err := report.WhyNot(w, g, id); err != nil {
			return err
		}
	}
	return report.Elsewhere(w, now, id)
}
