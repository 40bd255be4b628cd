package rounds_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "Hostile or broken logs never panic, never write terminal escapes from log
// content unescaped": whatever a log holds, it is told, and what is told has
// nothing in it that a terminal obeys.
func FuzzTell(f *testing.F) {
	files, err := filepath.Glob("testdata/*.log")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if lines := bytes.SplitAfterN(data, []byte("\n"), 12); len(lines) == 12 {
			f.Add(bytes.Join(lines[:11], nil)) // the mutator gets nowhere with more
		}
	}
	const hostile = `{"node":1,"event":"peers","seq":1,"term":3,"cluster":"\u001b[2J\u202e","algo":"bully",` +
		`"alive":[2],"evidence":"\u0007link-closed 5","sent":["A>1#1:1","x"],` +
		`"why":["leader 5 is gone -> call an election of term 3\u009b31m"]}`
	f.Add([]byte(hostile))
	f.Fuzz(func(t *testing.T, log []byte) {
		b := rounds.NewBuilder()
		if _, err := logs.Read(bytes.NewReader(log), b); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		h := b.History()
		for _, g := range h.Groups {
			_ = report.Header(&out, g.Cluster, g.Algorithm, g.Guarantee, g.Run) // a Buffer takes all
			_ = report.Remarks(&out, g)
			for _, r := range g.Rounds {
				_ = report.Line(&out, g.Names, r)
				_ = report.Show(&out, g, r, true)
				_ = report.Explain(&out, g, r, true)
			}
			for _, n := range g.Nodes {
				_ = report.WhyNot(&out, g, n.ID)
			}
		}
		_ = report.Notes(&out, h)
		for _, c := range out.String() {
			if c != '\n' && rounds.Printable(string(c)) != string(c) {
				t.Fatalf("told %q", out.String())
			}
		}
	})
}

// Terminal escapes, bidirectional overrides and broken UTF-8 come out as numbers.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"node 3 is gone":  "node 3 is gone",
		"größer → 1":      "größer → 1",
		"\x1b[31mred":     `\u001b[31mred`,
		"a\u202eb":        `a\u202eb`,
		"a\u200bb\x00":    `a\u200bb\u0000`,
		"\xff\xfe":        `\xff\xfe`,
		"line\nfeed\ttab": `line\u000afeed\u0009tab`,
	} {
		if got := rounds.Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
