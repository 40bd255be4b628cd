package report_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "--since 23:00 --until 01:00" goes over midnight: the last time that it was 23:00 in the records.
func TestOverMidnight(t *testing.T) {
	clock := func(word string) time.Time {
		at, err := time.Parse("15:04", word)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for last, terms := range map[string][]uint64{"22 09:00": {2, 3}, "21 23:40": {2}, "22 23:40": {5}} {
		g := &rounds.Group{}
		for i, began := range []string{"21 22:59", "21 23:30", "22 00:59", "22 01:01", "22 23:30"} {
			at, err := time.Parse("2006-01-02 15:04", "2026-11-"+began)
			if err != nil {
				t.Fatal(err)
			}
			if began <= last {
				g.Rounds = append(g.Rounds, &rounds.Round{Term: uint64(i + 1), From: at})
			}
		}
		g.Until, _ = time.Parse("2006-01-02 15:04", "2026-11-"+last)
		s := report.Selection{Since: clock("23:00"), Until: clock("01:00")}
		var got []uint64
		for _, r := range report.Select(&rounds.History{Groups: []*rounds.Group{g}}, s).Groups[0].Rounds {
			got = append(got, r.Term)
		}
		if !slices.Equal(got, terms) {
			t.Errorf("to %s: terms %v, want %v", last, got, terms)
		}
	}
}

// "--since 10m" of a log of the day before yesterday printed the titles of the columns and nothing else.
func TestNothingBeganThen(t *testing.T) {
	log, err := os.Open("../testdata/bully-kill.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b := rounds.NewBuilder()
	if _, err := logs.Read(log, b); err != nil {
		t.Fatal(err)
	}
	g := b.History().Groups[0]
	list := func(s report.Selection) string {
		var out bytes.Buffer
		if err := report.List(&out, g, s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const said = "nothing began then: the records are from 2026-11-21 15:18:"
	says(t, list(report.Selection{Since: g.Until.Add(time.Hour)}), said)
	says(t, list(report.Selection{Since: g.From.Add(-time.Hour)}), "!nothing began")
	says(t, list(report.Selection{Since: g.From.Add(-time.Hour), Findings: true}), "!nothing began")
}
