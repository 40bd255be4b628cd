// Package cost says what elections without failures cost: it simulates them, and puts the figures beside
// those of theory.
package cost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/proto"
)

// tableSizes are the numbers of living nodes in the table. averageRings is the number of rings in
// random order over which an average is taken.
var tableSizes = []int{2, 5, 10, 50, 100}

const averageRings = 200

// Simulated returns an algorithm of the catalogue as the simulator takes it.
func Simulated(e catalog.Entry) sim.Algorithm {
	return sim.Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New, Agreement: e.Agreement,
		Leased: e.Leased, OwnLease: e.OwnLease, Promise: e.Promise, Recovers: e.Recovers, Store: e.Stored,
	}
}

// Table simulates the best and the worst case of each algorithm at several sizes, and returns their
// cost beside that in theory, as Markdown. wrong is the number of elections whose cost differs from
// theory.
func Table(entries []catalog.Entry) (text string, wrong int, err error) {
	r, err := compare.Grow(context.Background(), compare.GrowthOptions{
		Entries: entries, Sizes: tableSizes, Simulate: Of,
	})
	if err != nil {
		return "", 0, err
	}
	rows := []string{"| algorithm | case | messages | transmission times |", "|---|---|---|---|"}
	for _, n := range tableSizes {
		rows[0] += fmt.Sprintf(" n = %d |", n)
		rows[1] += "--:|"
	}
	for _, l := range r.Lines {
		most := ""
		if l.Bound {
			most = "≤ "
		}
		row := fmt.Sprintf("| `%s` | %s | %s%s | %s%s |", l.Algorithm, l.Case, most, l.Formula, most, l.Times)
		for _, p := range l.Points {
			row += " " + p.Text()
			switch {
			case p.Wrong:
				wrong++
			case p.Cost != p.Theory:
				row += fmt.Sprintf(" (≤ %d in %d)", p.Theory.Messages, p.Theory.Times)
			}
			row += " |"
		}
		rows = append(rows, row)
		if l.Case == compare.Worst {
			average, err := averageRow(l.Algorithm)
			if err != nil {
				return "", 0, err
			}
			rows = append(rows, average...)
		}
	}
	return strings.Join(rows, "\n") + "\n", wrong, nil
}

// Cases says of each algorithm when an election is cheapest and when it is dearest, with the kinds of the
// messages, and where the lecture notes count in another way.
func Cases(entries []catalog.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "- `%s`, best: %s. Worst: %s.", e.Name, e.Theory.BestCase, e.Theory.WorstCase)
		if e.Theory.Notes != "" {
			fmt.Fprintf(&b, " Note: %s.", e.Theory.Notes)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Of simulates one election of n living nodes without failures, and returns its cost.
func Of(e catalog.Entry, r algorithms.Run, n int) (compare.Cost, error) {
	result, err := electOnce(e, r, n)
	if err == nil && result.Leader == 0 {
		err = errors.New("the election ended without a leader")
	}
	return compare.Cost{Messages: result.Messages["total"], Times: result.TransmissionTimes}, err
}

// electOnce simulates one election without failures, of n living nodes.
func electOnce(e catalog.Entry, r algorithms.Run, n int) (sim.Result, error) {
	o := sim.Options{Algorithm: Simulated(e), Nodes: n, AllInitiate: r.Caller == nil}
	if r.Caller != nil {
		o.Initiators = []proto.NodeID{r.Caller(n)}
	}
	if r.Crash {
		o.Nodes++
		o.Crashed = []proto.NodeID{proto.NodeID(o.Nodes)}
	}
	return sim.Run(o)
}

// averageRow returns the row of the average over rings in random order, on which all nodes call. It
// returns none for an algorithm of which theory gives no average.
func averageRow(name string) ([]string, error) {
	e, err := catalog.Lookup(name)
	if err != nil || e.Theory.Average == nil {
		return nil, err
	}
	a := e.Theory.Average
	row := fmt.Sprintf("| `%s` | average, all call | %s %s | |", e.Name, a.Formula, a.Kind)
	for _, n := range tableSizes {
		total := 0
		for seed := range uint64(averageRings) {
			r, err := sim.Run(sim.Options{
				Algorithm: Simulated(e), Seed: seed, Nodes: n, AllInitiate: true, Shuffle: true,
			})
			if err != nil {
				return nil, err
			}
			total += r.Messages[a.Kind.String()]
		}
		row += fmt.Sprintf(" %.1f (%.1f) |", float64(total)/averageRings, a.Of(n))
	}
	return []string{row}, nil
}
