package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

func configCommand() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "inspect the configuration",
		Subcommands: []*cli.Command{{
			Name:   "show",
			Usage:  "print every value that run uses and its source",
			Flags:  append(settingFlags(""), outputFlag()),
			Action: showConfig,
		}},
	}
}

// settingFlags returns --config and the flags of the settings that a command has; all of them for
// "". The flags have no default and no environment variable: resolve reads both.
func settingFlags(command string) []cli.Flag {
	flags := []cli.Flag{&cli.StringFlag{
		Name:  "config",
		Usage: "YAML `FILE` of settings, its keys the names of the flags (" + configEnv + ")",
	}}
	for _, s := range table {
		if s.only == "" || command == "" || s.only == command {
			flags = append(flags, s.flag(false))
		}
	}
	for _, s := range retired {
		flags = append(flags, s.flag(true))
	}
	return flags
}

// flag returns the setting's flag. The help does not list a hidden flag.
func (s setting) flag(hidden bool) cli.Flag {
	switch {
	case s.isList():
		return &cli.StringSliceFlag{Name: s.name, Usage: s.usage, DefaultText: s.defaultText(), Hidden: hidden}
	case s.isBool():
		return &cli.BoolFlag{Name: s.name, Usage: s.usage, DefaultText: s.defaultText(), Hidden: hidden}
	}
	return &cli.StringFlag{Name: s.name, Usage: s.usage, DefaultText: s.defaultText(), Hidden: hidden}
}

// resolveFrom resolves the settings of a command and of this process.
func resolveFrom(ctx *cli.Context) (resolved, error) {
	if ctx.IsSet("config") && ctx.String("config") == "" {
		return resolved{}, usagef("--config: want the name of a file")
	}
	flags := make(map[string][]string)
	for _, s := range slices.Concat(table, retired) {
		if ctx.IsSet(s.name) {
			flags[s.name] = s.fromFlag(ctx)
		}
	}
	return resolve(surroundings{
		flags: flags, config: ctx.String("config"), environ: os.Environ(),
		hostname: os.Hostname, Host: address.Machine,
	})
}

func (s setting) fromFlag(ctx *cli.Context) []string {
	switch {
	case s.isList():
		return ctx.StringSlice(s.name)
	case s.isBool():
		return []string{fmt.Sprint(ctx.Bool(s.name))}
	}
	return []string{ctx.String(s.name)}
}

// shown is one setting in the JSON of config show.
type shown struct {
	Value  any    `json:"value"`
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`
}

func showConfig(ctx *cli.Context) error {
	asJSON, err := wantsJSON(ctx)
	if err != nil {
		return err
	}
	r, err := resolveFrom(ctx)
	for _, warning := range slices.Concat(r.remarks, r.warnings) {
		fmt.Fprintln(ctx.App.ErrWriter, "ringleader: warning:", warning)
	}
	if err != nil {
		return err
	}
	names, rows := r.rows()
	if asJSON {
		return writeJSON(ctx.App.Writer, rows)
	}
	w := tabwriter.NewWriter(ctx.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tSOURCE")
	for _, name := range names {
		row := rows[name]
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, plain(row.Value), origin{row.Source, row.Where})
	}
	return w.Flush()
}

// effect is a value that follows from settings and cannot be set itself. The command config show
// prints it, so that nobody has to calculate it.
type effect struct {
	name string
	from string // what the value follows from
	of   func(*settings) any
}

// effects lists all effects, in the order in which config show prints them.
var effects = []effect{
	{"heartbeat", fromBudget, func(s *settings) any { return s.pacing.Heartbeat }},
	{"heartbeat-misses", fromBudget, func(s *settings) any { return s.pacing.Misses }},
	{"heartbeat-silence", fromBudget, func(s *settings) any {
		return time.Duration(s.pacing.Misses) * s.pacing.Heartbeat
	}},
	{"latency", fromBudget, func(s *settings) any { return s.pacing.Latency }},
	{"election-round", "from --failover-budget and --algorithm", func(s *settings) any {
		_, k := pacing.RoundOf(s.entry())
		return k * s.pacing.Latency
	}},
	{"link-dial-timeout", fromBudget, func(s *settings) any { return tcp.LimitsFor(s.patience()).Dial }},
	{"link-hello-timeout", fromBudget, func(s *settings) any { return tcp.LimitsFor(s.patience()).Handshake }},
	{"link-ack-timeout", fromBudget, func(s *settings) any { return tcp.LimitsFor(s.patience()).Ack }},
	{"link-unreachable-after", fromBudget, func(s *settings) any { return tcp.LimitsFor(s.patience()).Unreachable }},
	{"gossip-probe-interval", fromBudget, func(s *settings) any {
		return membership.ProbingWithin(s.patience()).Interval
	}},
	{"gossip-probe-timeout", fromBudget, func(s *settings) any {
		return membership.ProbingWithin(s.patience()).Timeout
	}},
	{"gossip-interval", fromBudget, func(s *settings) any { return membership.ProbingWithin(s.patience()).Gossip }},
}

// value returns the effect as config show prints it: a time as text, or a number.
func (e effect) value(s *settings) any {
	if d, ok := e.of(s).(time.Duration); ok {
		return d.String()
	}
	return e.of(s)
}

// entry returns the algorithm's entry in the catalogue.
func (s *settings) entry() catalog.Entry {
	entry, _ := catalog.Lookup(s.Algorithm) // it is checked
	return entry
}

// patience returns how long the network and a process may take to answer: see package pacing.
func (s *settings) patience() time.Duration { return s.pacing.Patience(s.entry()) }

// rows returns all values that a node runs with: those of the settings, then the
// effects.
func (r *resolved) rows() (names []string, rows map[string]shown) {
	rows = make(map[string]shown, len(table)+len(effects))
	for _, s := range table {
		o := r.origins[s.name]
		names = append(names, s.name)
		rows[s.name] = shown{s.value(&r.settings), o.Source, o.Where}
	}
	for _, e := range effects {
		names = append(names, e.name)
		rows[e.name] = shown{e.value(&r.settings), "derived", e.from}
	}
	return names, rows
}
