package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
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

// A node that was cut off lost all others, and "nodes 2, 3 and 4 are silent" was told of these, which heard each other.
func TestToWhomNodesAreSilent(t *testing.T) {
	node := func(id uint64, losses ...uint64) rounds.Node {
		n := rounds.Node{ID: id, Records: 9, Lives: []rounds.Life{{}}}
		for _, lost := range losses {
			n.Gone = append(n.Gone, rounds.Dropped{ID: lost, Detection: rounds.Detection{
				Node: id, Evidence: "heartbeat-missed", Ref: rounds.Ref{Node: id, Seq: lost},
			}})
		}
		return n
	}
	silent := func(n rounds.Node, by uint64) rounds.Node {
		n.Lives[0].Events = []rounds.LifeEvent{{
			Kind: rounds.Silent, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: by, Seq: n.ID},
		}}
		return n
	}
	for told, nodes := range map[string][]rounds.Node{
		"Of 4 nodes, nodes 2, 3 and 4 are silent to node 1 [peers saw: 1:2 1:3 1:4] and the other runs": {
			node(1, 2, 3, 4), silent(node(2), 1), silent(node(3), 1), silent(node(4), 1),
		},
		"Of 4 nodes, node 4 is silent [peers saw: 1:4] and the other 3 run": {
			node(1, 4), node(2, 4), node(3, 4), silent(node(4), 1),
		},
		"Of 4 nodes, node 4 is silent [peers saw: 1:4], node 3 is silent to nodes 1 and 2 [peers saw: 1:3 2:3] and": {
			node(1, 3, 4), node(2, 3, 4), silent(node(3, 4), 1), silent(node(4), 1),
		},
	} {
		g := &rounds.Group{
			Nodes:       nodes,
			Leaderships: []rounds.Leadership{{Leader: 1, Term: 1, First: rounds.Ref{Node: 1, Seq: 1}}},
		}
		var list bytes.Buffer
		if err := report.List(&list, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		tells(t, list.String(), told)
	}
}

// "Started again" was all that was said of a node whose disk was wiped, also by why-not.
func TestANodeThatMayHaveLostItsDisk(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 1, 7, s, 0, time.UTC) }
	old, anew := rounds.Ref{Node: 3, Incarnation: "a", Seq: 4}, rounds.Ref{Node: 3, Incarnation: "b", Seq: 1}
	for what, text := range map[rounds.Saved]string{rounds.Votes: "what it voted", rounds.Terms: "its term"} {
		led := []rounds.Leadership{{Leader: 4, Term: 1, First: rounds.Ref{Node: 4, Seq: 1}, From: at(1)}}
		g := &rounds.Group{From: at(1), Until: at(9), Leaderships: led, Nodes: []rounds.Node{{
			ID: 3, Records: 9, Last: anew, Lives: []rounds.Life{
				{Incarnation: "a", From: at(1), Until: at(4)},
				{
					Incarnation: "b", First: anew, Last: anew, From: at(7), Until: at(9),
					Unsaved: &rounds.Unsaved{What: what, Ref: anew, Before: old},
				},
			},
		}}}
		want := "started again by 01:07:07.000, with nothing saved of " + text + ": it may have lost its disk [3:1 3:4]"
		var list, why bytes.Buffer
		if err := errors.Join(report.List(&list, g, report.Selection{}), report.WhyNot(&why, g, 3)); err != nil {
			t.Fatal(err)
		}
		says(t, list.String(), "     3  "+want+"\n")
		tells(t, why.String(), "Node 3 "+want+".")
	}
}

// An operator paused a node, and resumed it, and nothing told of it but its own records.
func TestWhenANodeStoodAsideIsTold(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 1, 7, s, 0, time.UTC) }
	log := func(seq int, rest string) string {
		return fmt.Sprintf(`{"level":"info","time":%q,"cluster":"c","node":3,"incarnation":"a","algo":"bully",`+
			`"seq":%d,"hlc":"%d.0","term":2,"role":"follower","leader":4,"guarantee":"lease",%s}`+"\n",
			at(seq).Format(time.RFC3339Nano), seq, at(seq).UnixMicro(), rest)
	}
	const paused = `"event":"eligible","unfit":"paused since 2026-11-29T01:07:02Z by 127.0.0.1 because an upgrade"`
	b := rounds.NewBuilder()
	text := log(1, `"event":"start"`) + log(2, paused) + log(3, paused) + log(4, `"event":"eligible","detail":"yes"`)
	if _, err := logs.Read(strings.NewReader(text), b); err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	if err := report.List(&list, b.History().Groups[0], report.Selection{}); err != nil {
		t.Fatal(err)
	}
	says(t, list.String(), "     3  stood aside at 01:07:02.000, paused since 2026-11-29T01:07:02Z by 127.0.0.1 "+
		"because \"an upgrade\" [3:2]; stood again at 01:07:04.000 [3:4]\n")
}
