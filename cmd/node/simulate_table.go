package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/proto"
)

// tableSizes are the numbers of living nodes in the table, and averageRings how many
// rings in random order an average is taken over.
var tableSizes = []int{2, 5, 10, 50, 100}

const averageRings = 200

// printTable prints what elections without failures cost, as they are simulated,
// beside theory: of one algorithm if it was asked for, else of all. It is Markdown.
func printTable(ctx *cli.Context) error {
	for _, flag := range ctx.FlagNames() {
		if flag != "table" && flag != "algorithm" {
			return usagef("--table makes its own runs: leave --%s away", flag)
		}
	}
	entries := catalog.All()
	if name := ctx.String("algorithm"); ctx.IsSet("algorithm") {
		entry, err := algorithmNamed(name)
		if err != nil {
			return usagef("--algorithm %s: %w", name, err)
		}
		entries = []catalog.Entry{entry}
	}
	text, wrong, err := costTable(entries)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(ctx.App.Writer, text); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d figures are not what theory says", wrong)
	}
	return nil
}

// costTable is the Markdown, and how many figures in it are not theory's.
func costTable(entries []catalog.Entry) (text string, wrong int, err error) {
	rows := []string{"| algorithm | case | messages | transmission times |", "|---|---|---|---|"}
	for _, n := range tableSizes {
		rows[0] += fmt.Sprintf(" n = %d |", n)
		rows[1] += "--:|"
	}
	for _, e := range entries {
		cases := []struct {
			name string
			run  algorithms.Run
			of   func(n int) int
		}{{"best", e.Theory.BestRun, e.Theory.Best}, {"worst", e.Theory.WorstRun, e.Theory.Worst}}
		for _, c := range cases {
			row := fmt.Sprintf("| `%s` | %s | %s%s | %s%s |", e.Name, c.name,
				most(c.run), c.run.Messages, most(c.run), c.run.Transmissions)
			for _, n := range tableSizes {
				cell, ok, err := measured(e, c.run, c.of(n), n)
				if err != nil {
					return "", 0, err
				}
				if !ok {
					wrong++
				}
				row += " " + cell + " |"
			}
			rows = append(rows, row)
		}
		if e.Theory.Average != nil {
			row, err := averageRow(e)
			if err != nil {
				return "", 0, err
			}
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "\n") + "\n", wrong, nil
}

func most(r algorithms.Run) string {
	if r.AtMost {
		return "≤ "
	}
	return ""
}

// measured is "24 in 5" messages and transmission times, with what theory says where
// that is another figure; ok says whether theory allows it.
func measured(e catalog.Entry, r algorithms.Run, messages, n int) (cell string, ok bool, err error) {
	result, err := electOnce(e, r, n)
	if err != nil {
		return "", false, err
	}
	sent, times := result.Messages["total"], result.TransmissionTimes
	cell = fmt.Sprintf("%d in %d", sent, times)
	switch {
	case sent == messages && times == r.Times(n):
		return cell, true, nil
	case r.AtMost:
		return fmt.Sprintf("%s (≤ %d in %d)", cell, messages, r.Times(n)),
			sent <= messages && times <= r.Times(n), nil
	}
	return fmt.Sprintf("%s (theory: %d in %d)", cell, messages, r.Times(n)), false, nil
}

// electOnce simulates one election without failures, of n living nodes.
func electOnce(e catalog.Entry, r algorithms.Run, n int) (sim.Result, error) {
	o := sim.Options{Algorithm: simulated(e), Nodes: n, AllInitiate: r.Caller == nil}
	if r.Caller != nil {
		o.Initiator = r.Caller(n)
	}
	if r.Crash {
		o.Nodes++
		o.Crashed, o.Detector = proto.NodeID(o.Nodes), sim.None
	}
	return sim.Run(o)
}

// averageRow is the average over rings in random order, on which all call.
func averageRow(e catalog.Entry) (string, error) {
	a := e.Theory.Average
	row := fmt.Sprintf("| `%s` | average, all call | %s %s | |", e.Name, a.Formula, a.Kind)
	for _, n := range tableSizes {
		total := 0
		for seed := range uint64(averageRings) {
			r, err := sim.Run(sim.Options{
				Algorithm: simulated(e), Seed: seed, Nodes: n, AllInitiate: true, Shuffle: true,
			})
			if err != nil {
				return "", err
			}
			total += r.Messages[a.Kind.String()]
		}
		row += fmt.Sprintf(" %.1f (%.1f) |", float64(total)/averageRings, a.Of(n))
	}
	return row, nil
}
