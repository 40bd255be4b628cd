package report_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

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
