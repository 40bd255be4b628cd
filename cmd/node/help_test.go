package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// Every help text fits a terminal, and every flag of it says what it is for.
func TestHelpFits(t *testing.T) {
	var walk func(path []string, commands []*cli.Command)
	walk = func(path []string, commands []*cli.Command) {
		var out, stderr bytes.Buffer
		line := append([]string{"ringleader"}, append(path, "--help")...)
		if err := newApp(&out, &stderr).Run(line); err != nil || stderr.Len() > 0 {
			t.Errorf("%q: %v, %s", line, err, stderr.String())
		}
		for text := range strings.Lines(out.String()) {
			if text = strings.TrimSuffix(text, "\n"); len(text) > textWidth {
				t.Errorf("%q: %d columns: %s", line, len(text), text)
			}
		}
		for _, c := range commands {
			if c.Usage == "" {
				t.Errorf("%q has no usage", c.Name)
			}
			walk(append(path[:len(path):len(path)], c.Name), c.Subcommands)
		}
	}
	walk(nil, newApp(nil, nil).Commands)
}

// Flags may stand behind the words of a command, unless these are a command that has flags of its own.
func TestFlagsStandAnywhere(t *testing.T) {
	run := func(words ...string) string {
		var out, stderr bytes.Buffer
		if err := newApp(&out, &stderr).Run(append([]string{"ringleader"}, words...)); err != nil {
			t.Errorf("%q: %v", words, err)
		}
		return out.String()
	}
	var walk func(path []string, commands []*cli.Command)
	walk = func(path []string, commands []*cli.Command) {
		for _, c := range commands {
			here := append(path[:len(path):len(path)], c.Name)
			if c.ArgsUsage != "" && !strings.Contains(c.ArgsUsage, "--") {
				want := run(append(here, "--help")...)
				if got := run(append(here, "0123456789ab", "--help")...); got != want {
					t.Errorf("%q with --help behind a word printed %q, want %q", here, got, want)
				}
			}
			walk(here, c.Subcommands)
		}
	}
	walk(nil, newApp(nil, nil).Commands)
}
