package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/urfave/cli/v2"
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

// settingFlags are the flags of the table that a command has, and --config. They
// carry neither defaults nor variables: resolve knows those.
func settingFlags(command string) []cli.Flag {
	flags := []cli.Flag{&cli.StringFlag{
		Name:  "config",
		Usage: "YAML `FILE` of settings, its keys the names of the flags (" + configEnv + ")",
	}}
	for _, s := range table {
		if s.only == "" || command == "" || s.only == command {
			flags = append(flags, s.flag())
		}
	}
	for _, s := range retired {
		flags = append(flags, &cli.BoolFlag{Name: s.name, Usage: s.usage, Hidden: true})
	}
	return flags
}

func (s setting) flag() cli.Flag {
	fallback := s.fallback
	if fallback == "" {
		fallback = s.derived
	}
	switch s.form {
	case list:
		return &cli.StringSliceFlag{Name: s.name, Usage: s.usage, DefaultText: fallback}
	case yesNo:
		return &cli.BoolFlag{Name: s.name, Usage: s.usage, DefaultText: fallback}
	}
	return &cli.StringFlag{Name: s.name, Usage: s.usage, DefaultText: fallback}
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
		hostname: os.Hostname, addrs: address.InUse, source: address.KernelSource, names: namesOf,
	})
}

func (s setting) fromFlag(ctx *cli.Context) []string {
	switch s.form {
	case list:
		return ctx.StringSlice(s.name)
	case yesNo:
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
	for _, warning := range slices.Concat(r.unknown, r.warnings) {
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

// plain is a setting's value as one would write it; "-" for nothing.
func plain(value any) string {
	text := fmt.Sprint(value)
	if values, ok := value.([]string); ok {
		text = strings.Join(values, ",")
	}
	if text == "" {
		return "-"
	}
	return text
}
