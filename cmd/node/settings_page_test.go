package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/SETTINGS.md anew")

// docs/SETTINGS.md says what the table says.
func TestSettingsPage(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "SETTINGS.md")
	if *rewrite {
		if err := os.WriteFile(file, []byte(settingsPage()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(file); err != nil || string(page) != settingsPage() {
		t.Errorf("docs/SETTINGS.md is not what the settings are (%v): write it anew with "+
			"go test ./cmd/node -run TestSettingsPage -rewrite", err)
	}
}

// settingsPage is the table as a page.
func settingsPage() string {
	var b strings.Builder
	b.WriteString(`# Settings

Of ` + "`ringleader run` and `ringleader exec`" + `. A setting is a flag (` + "`--gossip-bind`" + `),
a variable of the environment (` + "`RINGLEADER_GOSSIP_BIND`" + `) and a key of the YAML file that
` + "`--config`" + ` names; the flag wins over the variable, the variable over the file.
` + "`ringleader config show`" + ` prints each value and where it came from. The fields of ` + "`ringleader.Config`" + `
have the same names.

This page is written by ` + "`go test ./cmd/node -run TestSettingsPage -rewrite`" + `.

| setting | default | what it is |
|---|---|---|
`)
	for _, s := range table {
		usage := strings.ReplaceAll(s.usage, "`", "")
		if s.only != "" {
			usage = "(" + s.only + ") " + usage
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.name, s.defaultText(), usage)
	}
	b.WriteString("\nThese cannot be set. They follow from others, and `ringleader config show` prints them:\n\n" +
		"| value | follows |\n|---|---|\n")
	for _, e := range effects {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.name, regexp.MustCompile(`--([a-z-]+)`).ReplaceAllString(e.from, "`$1`"))
	}
	b.WriteString("\nThese are gone, and refused:\n\n| setting | what to do |\n|---|---|\n")
	for _, s := range retired {
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.name, s.usage)
	}
	return b.String()
}
