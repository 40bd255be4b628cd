package report_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// A node whose log is missing "is silent", and ended by its own good-bye later.
func TestWhoEndedLaterIsNotSilent(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 1, 7, s, 0, time.UTC) }
	lost := func(seq uint64, s int, evidence string) rounds.Dropped {
		return rounds.Dropped{ID: 4, Detection: rounds.Detection{
			Node: 1, Evidence: evidence, Ref: rounds.Ref{Node: 1, Seq: seq}, At: at(s),
		}}
	}
	g := &rounds.Group{
		From: at(0), Until: at(34), Nodes: []rounds.Node{{
			ID: 1, Records: 9, Lives: []rounds.Life{{Until: at(34)}},
			Gone: []rounds.Dropped{lost(3, 7, "heartbeat-missed 4"), lost(8, 30, "left 4")},
		}, {ID: 4}},
		Leaderships: []rounds.Leadership{{Leader: 1, Term: 2, First: rounds.Ref{Node: 1, Seq: 1}, From: at(1)}},
	}
	var out bytes.Buffer
	if err := report.List(&out, g, report.Selection{}); err != nil {
		t.Fatal(err)
	}
	says(t, out.String(), "     4  was lost to node 1 at 01:07:07.000 [peers saw: 1:3]; ended, as node 1 saw")
}
