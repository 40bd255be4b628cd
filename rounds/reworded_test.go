package rounds_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// No program reads a sentence: in a world where each says something else, all that is told
// is the same but for the words.
func TestReworded(t *testing.T) {
	told := 0
	for name, records := range worlds(t) {
		for _, asText := range []bool{false, true} {
			write := func(w io.Writer, rec trace.Record) {
				var err error
				switch {
				case !asText:
					err = encoder(w).Encode(rec)
				case rec.Cluster == "": // text names no cluster
					err = trace.Text(w, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), rec)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var as, other bytes.Buffer
			for _, rec := range records {
				write(&as, rec)
				write(&other, reworded(rec, asText))
			}
			want, got := allOf(t, &as), allOf(t, &other)
			for i := range want {
				told += len(want[i])
				wanted, said := plain(want[i]), plain(inWords(got[i]))
				if wanted != said {
					t.Errorf("%s: %s", name, firstDifference(wanted, said))
					break
				}
			}
		}
	}
	if told < 1_000_000 {
		t.Errorf("only %d bytes were told", told)
	}
}

// worlds are the records of simulated runs of every algorithm, with faults, and of real
// clusters. Those of the former release are given the codes that they would have now.
func worlds(t *testing.T) map[string][]trace.Record {
	t.Helper()
	all := map[string][]trace.Record{}
	for _, plain := range catalog.All() {
		for _, e := range []catalog.Entry{plain.WithRecovery(), plain.WithLease()} {
			for seed := range uint64(3) {
				var log bytes.Buffer
				_, err := sim.Run(sim.Options{
					Algorithm: sim.Algorithm{
						Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
						Agreement: e.Agreement, Leased: e.Leased, OwnLease: e.OwnLease,
						Promise: e.Promise, Recovers: e.Recovers,
					},
					Seed: seed, Nodes: 5, Fence: e.Leased && !e.OwnLease, Trace: &log, TraceJSON: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				all[fmt.Sprintf("%s, voters %v, seed %d", e.Name, e.Leased, seed)] = recordsIn(t, &log)
			}
		}
	}
	files, err := filepath.Glob("testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		c := collected{}
		batch := logs.Batch{Paths: []string{file}}
		batch.Read(&c, func(err error) { t.Fatal(err) })
		all[file] = c.records
	}
	for _, records := range all {
		for i := range records {
			upgrade(&records[i])
		}
	}
	return all
}

func recordsIn(t *testing.T, log io.Reader) []trace.Record {
	t.Helper()
	c := collected{}
	if _, err := logs.Read(bufio.NewReader(log), &c); err != nil {
		t.Fatal(err)
	}
	return c.records
}

type collected struct{ records []trace.Record }

func (c *collected) Add(rec *trace.Record)           { c.records = append(c.records, *rec) }
func (c *collected) Death(string, uint64, time.Time) {}
func (c *collected) Left(trace.Farewell)             {}

// upgrade gives a record of the former release what those of this one have.
func upgrade(rec *trace.Record) {
	rec.Reasons = append(slices.Clone(rec.Reasons), make([]trace.Reason, len(rec.Why)-len(rec.Reasons))...)
	for i, why := range rec.Why {
		if rec.Reasons[i].Code == "" {
			rec.Reasons[i] = rounds.Formerly(rec.Algo, why)
		}
		if rec.Reasons[i].Code == "" { // it decides nothing
			rec.Reasons[i].Code = "former.sentence"
		}
	}
	switch why, no := strings.CutPrefix(rec.Detail, "no, "); {
	case rec.Event == "receive" && rec.Ranks == nil:
		for id, attr := range rounds.FormerRanks(rec.Detail) {
			rec.Ranks = append(rec.Ranks, fmt.Sprintf("%d:%d", id, attr))
		}
	case rec.Event == "eligible" && no:
		rec.Unfit = why
	case rec.Event == "gone" && rec.About == 0:
		_, _ = fmt.Sscanf(rec.Detail, "%d", &rec.About)
	}
}

// reworded is the record with other words in its sentences, and in what its message says.
// Text has the latter in place of fields.
func reworded(rec trace.Record, asText bool) trace.Record {
	rec.Why = slices.Clone(rec.Why)
	for i := range rec.Why {
		rec.Why[i] = inOtherWords(rec.Why[i])
	}
	if rec.Event == "receive" && !asText {
		rec.Detail = inOtherWords(rec.Detail)
	}
	return rec
}

// otherWords is where the letters lie that stand for those of ASCII.
const otherWords = 0x4e00

func inOtherWords(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("->,:()", c) {
			return c + otherWords
		}
		return c
	}, s)
}

func inWords(s string) string {
	return strings.Map(func(c rune) rune {
		if c > otherWords+' ' && c <= otherWords+'~' {
			return c - otherWords
		}
		return c
	}, s)
}

// plain leaves out how signs are written in each format.
func plain(s string) string {
	return strings.NewReplacer(
		"→", "->", "&gt;", ">", "&lt;", "<", "&#39;", "'", "&#34;", `"`, "&quot;", `"`, "&amp;", "&",
		`\u003e`, ">", `\u003c`, "<", `\u0026`, "&", `\"`, `"`, "#gt;", ">", "#59;", ";", "#35;", "#",
	).Replace(s)
}

func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// allOf is all that is told of a log, each as text.
func allOf(t *testing.T, log io.Reader) (all []string) {
	t.Helper()
	b := rounds.NewBuilder()
	if _, err := logs.Read(log, b); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	add := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, out.String())
		out.Reset()
	}
	h := b.History()
	add(encoder(&out).Encode(h))
	add(render.HTML(&out, h))
	add(report.Notes(&out, h))
	for _, g := range h.Groups {
		add(report.Remarks(&out, g))
		for _, f := range g.Loose {
			add(report.Finding(&out, g.Names, f))
		}
		for _, n := range g.Nodes {
			add(report.WhyNot(&out, g, n.ID))
		}
		for _, r := range g.Rounds {
			add(report.Line(&out, g.Names, r))
			add(report.Show(&out, g, r, true))
			add(report.Explain(&out, g, r, true))
			add(render.Text(&out, r, 90))
			add(render.SVG(&out, r))
			add(render.Mermaid(&out, r))
		}
	}
	return all
}

func firstDifference(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	near := func(s string) string { return s[max(0, at-200):min(len(s), at+100)] }
	return fmt.Sprintf("told\n%s\nwith other sentences\n%s", near(want), near(got))
}
