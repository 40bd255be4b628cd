package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/ruleout"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

// wasteSpan is how long each line of the table of --accuracy runs, in virtual time.
const wasteSpan = 10 * time.Minute

// wasted is a line of that table.
type wasted struct {
	Algorithm string `json:"algorithm"`
	Nodes     int    `json:"nodes"`
	Seed      uint64 `json:"seed"`
	Damped    bool   `json:"damped"`
	sim.Wasted
}

func accuracyFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "accuracy",
		Usage: "detectors that are right in these `PERCENTAGES` of their looks, as 100,99,90,50, and else\n" +
			"take the leader for dead: how many rounds are called for nothing",
	}
}

// printAccuracy runs clusters in which nobody fails under detectors that err, and prints what that costs.
func printAccuracy(ctx *cli.Context, asJSON bool) error {
	if setBeside(ctx, "accuracy", "algorithm", "nodes", "seed", "voters", "preempt", "output", "json") {
		return usagef("--accuracy makes its own runs: only --algorithm, --voters, --nodes, --preempt and --seed fit it")
	}
	o, err := simOptions(ctx)
	if err != nil {
		return err
	}
	if ctx.String("voters") == "none" {
		o.Algorithm, err = shaped(sim.Shape{Algorithm: o.Algorithm.Name})
		if err != nil {
			return err
		}
	}
	if !ctx.IsSet("nodes") {
		o.Nodes = 5
	}
	var rows []wasted
	for _, damped := range []bool{true, false} {
		if !damped {
			o.Algorithm = ruleout.Undamped(o.Algorithm)
		}
		for text := range strings.SplitSeq(ctx.String("accuracy"), ",") {
			accuracy, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return usagef("--accuracy %s: %q is no percentage: give some, as 100,99,90,50",
					ctx.String("accuracy"), text)
			}
			w, err := sim.Waste(o, accuracy, wasteSpan)
			if err != nil {
				return asUsage(err)
			}
			rows = append(rows, wasted{o.Algorithm.Name, o.Nodes, o.Seed, damped, w})
		}
	}
	if asJSON {
		return writeJSON(ctx.App.Writer, rows)
	}
	_, err = fmt.Fprint(ctx.App.Writer, accuracyText(o, rows))
	return err
}

// accuracyText draws the lines.
func accuracyText(o sim.Options, rows []wasted) string {
	var b strings.Builder
	name := o.Algorithm.Name
	if o.Algorithm.Leased {
		name += " under a lease, for which all vote"
	}
	fmt.Fprintf(&b, "\"Inaccuracy in FD => N80 mistakenly detected as failed => new election runs initiated\n"+
		"forever => Violation of Liveness\" (lecture notes)\n\n%s; %d nodes, of which none fails, for %v; seed %d\n"+
		"Each node looks at the leader every %v: a look that errs takes it for\n"+
		"dead until the next. All rounds are wasted.\n\n",
		name, o.Nodes, wasteSpan, o.Seed, sim.LookEvery(sim.DefaultDelta))
	fmt.Fprintf(&b, "accuracy   false  rounds  led by   began to lead   nobody  not all     two\n")
	fmt.Fprintf(&b, "          alarms  called  nobody   again  another     led    agree     led\n")
	for i, r := range rows {
		if i == 0 || r.Damped != rows[i-1].Damped {
			fmt.Fprintln(&b, map[bool]string{
				true: "damped, as nodes do it:", false: "not damped, each false alarm calls a round at once:",
			}[r.Damped])
		}
		fmt.Fprintf(&b, "%7s%% %7d %7d %7d %7d %8d %6.1f%% %7.1f%% %6.1f%%\n",
			strconv.FormatFloat(r.Accuracy, 'f', -1, 64), r.Errors, r.Rounds, r.Failed, r.Same, r.Other,
			share(r.LeaderlessSeconds, r), share(r.DisagreedSeconds, r), share(r.ContestedSeconds, r))
	}
	most := 0
	for _, r := range rows {
		most = max(most, r.Rounds)
	}
	fmt.Fprintf(&b, "\nrounds:\n")
	for _, r := range rows {
		const width = 50
		fmt.Fprintf(&b, "%7s%% %-10s %s %d\n", strconv.FormatFloat(r.Accuracy, 'f', -1, 64),
			map[bool]string{true: "damped", false: "not damped"}[r.Damped],
			strings.Repeat("#", (r.Rounds*width+max(most, 1)-1)/max(most, 1)), r.Rounds)
	}
	return b.String()
}

func share(seconds float64, r wasted) float64 { return 100 * seconds / r.Seconds }
