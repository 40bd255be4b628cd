package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// A line that tells of an outage from its beginning on was left out by an --until in the middle of that, and so was
// what is wrong with it: only the last of its terms was looked at.
func TestTheTimeOfALineIsThatOfAllItsTerms(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 12, 0, s, 0, time.UTC) }
	in := &rounds.Incident{
		Former: 1, FormerTerm: 1, From: at(10), Until: at(20), Leaderless: 10 * time.Second, Leader: 2, Term: 3,
		Terms: []uint64{2, 3},
	}
	g := &rounds.Group{
		From: at(0), Until: at(30), Findings: []rounds.Finding{{Name: rounds.NoEnd, Term: 3}},
		Rounds: []*rounds.Round{
			{Term: 1, From: at(0)},
			{Term: 2, From: at(11), Incident: in},
			{Term: 3, From: at(19), Incident: in, State: rounds.Decided, Winner: &rounds.Winner{Node: 2}},
		},
	}
	for _, c := range []struct {
		since, until int
		has          bool
	}{{5, 15, true}, {15, 30, true}, {12, 18, true}, {5, 9, false}, {20, 30, false}} {
		s := report.Selection{Since: at(c.since), Until: at(c.until)}
		var out bytes.Buffer
		if err := report.List(&out, g, s); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "   2-3  12:00:10.000") != c.has || len(s.Found(g)) > 0 != c.has {
			t.Errorf("%+v: %v\n%s", c, s.Found(g), &out)
		}
	}
}

// Who asks for the time of his alarm gets the outage that went on then. A line of one term was left out unless the call
// of that was then: the former leader had stopped long before, or the call had been in vain until it did.
func TestAnOutageBelongsToAllOfItsTime(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 12, 0, s, 0, time.UTC) }
	for name, called := range map[string]time.Time{"late": at(20), "in vain": at(5)} {
		in := &rounds.Incident{
			Former: 1, FormerTerm: 1, From: at(10), Until: at(21), Leaderless: 11 * time.Second, Leader: 2, Term: 2,
			Terms: []uint64{2},
		}
		won := &rounds.Round{
			Term: 2, From: called, Incident: in, State: rounds.Decided, Winner: &rounds.Winner{Node: 2},
			Findings: []rounds.Finding{{Name: rounds.NoEnd, Term: 2}},
		}
		g := &rounds.Group{
			From: at(0), Until: at(30), Findings: won.Findings, Incidents: []rounds.Incident{*in},
			Rounds: []*rounds.Round{{Term: 1, From: at(0)}, won, {Term: 3, From: at(28)}},
		}
		for _, c := range []struct {
			since, until int
			has          bool
		}{{11, 12, true}, {12, 25, true}, {6, 12, true}, {22, 30, false}, {6, 9, false}} {
			s := report.Selection{Since: at(c.since), Until: at(c.until)}
			var out bytes.Buffer
			if err := report.List(&out, g, s); err != nil {
				t.Fatal(err)
			}
			part := report.Select(&rounds.History{Groups: []*rounds.Group{g}}, s).Groups[0]
			if strings.Contains(out.String(), "      11 s  ") != c.has || len(s.Found(g)) > 0 != c.has ||
				len(part.Incidents) > 0 != c.has {
				t.Errorf("%s, %+v: %v, %d changes\n%s", name, c, s.Found(g), len(part.Incidents), &out)
			}
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

// A line that is about several terms began with the loss of the leader, also if that may have led nobody for longer: it
// told the time of the last of its terms, beside for how long nobody led at most from the loss on.
func TestALineOfSeveralTermsBeginsWithTheLoss(t *testing.T) {
	at := func(ms int) time.Time { return time.Date(2026, 11, 29, 12, 0, 0, ms*1e6, time.UTC) }
	in := &rounds.Incident{
		Former: 7, FormerTerm: 1, From: at(100), Sooner: at(100), Until: at(804), Leader: 5, Term: 3,
		Terms: []uint64{2, 3},
	}
	r := &rounds.Round{
		Term: 3, From: at(462), Guarantee: "best-effort", Incident: in, Cause: rounds.Cause{At: at(462)},
		Winner: &rounds.Winner{Node: 5},
	}
	var out bytes.Buffer
	if err := report.Line(&out, &rounds.Names{}, r); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasPrefix(got, "2-3 12:00:00.100 5 ") ||
		!strings.Contains(got, "≤704 ms") {
		t.Error(got)
	}
}

// A list without lines has no titles of columns. It says what is known: the nodes, the time of the records, and that
// nobody held an election in it.
func TestListWithoutElections(t *testing.T) {
	list := func(lines func(line string) bool, s report.Selection) string {
		log, err := os.ReadFile("../testdata/cases/votes-wiped/n1.log")
		if err != nil {
			t.Fatal(err)
		}
		var kept bytes.Buffer
		for line := range strings.Lines(string(log)) {
			if lines(line) {
				kept.WriteString(line)
			}
		}
		b := rounds.NewBuilder()
		if _, err := logs.Read(&kept, b); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, g := range b.History().Groups {
			if err := report.List(&out, g, s); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	early := func(line string) bool { return strings.Contains(line, "T09:16:32.3") }
	const none = "\nNo election in these records, which are from 2026-11-25 09:16:32 to 2026-11-25 09:16:32.\n"
	says(t, list(early, report.Selection{}), "\nNobody led, by the records of node 1 [1:2].\n",
		"\nOf 3 nodes, nodes 2 and 3 have no log here and the other runs, as far as the records tell, which end at "+
			"09:16:32.3", none, "!TERM", "!for nobody")
	start := func(line string) bool { return early(line) && !strings.Contains(line, `"seq":2,`) }
	says(t, list(start, report.Selection{}), none, "!TERM",
		"\nNode 1 votes for nobody, since nothing is saved of earlier votes [1:1].\n")
	says(t, list(start, report.Selection{Findings: true}), "nothing is wrong, as far as the records tell\n", "!TERM")
	all := func(string) bool { return true }
	says(t, list(all, report.Selection{Findings: true, Until: time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)}), "!TERM",
		"nothing that began then is wrong, as far as the records tell\n")
}

// "Who leads now and since when": a part of the history tells that, too. As JSON and as a page the outage that went on
// at the end of the records was left out, as no term was called in it: "The records do not tell who leads."
func TestAPartTellsWhoLeadsNow(t *testing.T) {
	paths, _ := filepath.Glob("../testdata/cases/outage-17s-quorum-lost/*.log")
	b, batch := rounds.NewBuilder(), logs.Batch{Paths: paths}
	batch.Read(b, func(err error) { t.Fatal(err) })
	for _, s := range []report.Selection{{}, {Last: 1}, {Findings: true}} {
		head := report.Head(report.Select(b.History(), s).Groups[0])
		says(t, strings.Join(head, "\n"), "Nobody leads since 11:51:42.743 at the latest, perhaps since 11:51:40.410: ")
	}
}

// "Lives: started, killed, paused, resumed, cut off, as far as records and peers tell": the list says of each node from
// when to when it was away, and who tells that.
func TestListTellsWhatHappenedToEachNode(t *testing.T) {
	list := func(s report.Selection, paths ...string) string {
		b, batch := rounds.NewBuilder(), logs.Batch{Paths: paths}
		batch.Read(b, func(err error) { t.Fatal(err) })
		var out bytes.Buffer
		if err := report.List(&out, b.History().Groups[0], s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	outage, _ := filepath.Glob("../testdata/cases/outage-17s-quorum-lost/*.log")
	says(t, list(report.Selection{}, outage...),
		"\n  NODE  WHAT HAPPENED TO IT, AS FAR AS THE RECORDS TELL\n"+
			"     2  27 of its records are missing from 11:51:08.592 to 11:51:11.313 [2:10@ea7cac6e 2:38@ea7cac6e]; "+
			"ended, unseen; started again by 11:51:36.514 [2:4@12288268]\n"+
			"     4  was silent to node 3 from 11:51:14.680 at the latest [peers saw: 3:75] to 11:51:32.347 [4:83]; "+
			"ended without a good-bye at 11:51:42.743 [peers saw: 6:74]\n"+
			"     5  ended without a good-bye at 11:51:11.312 [peers saw: 8:14]; started again by "+
			"11:51:36.516 [5:3@1fb9f878]; was told to stop, and ended at 11:51:39.696 [5:53]\n")
	says(t, list(report.Selection{Last: 1}, outage...),
		"     4  …; ended without a good-bye at 11:51:42.743 [peers saw: 6:74]\n",
		"     5  …; was told to stop, and ended at 11:51:39.696 [5:53]\n", "!     2  ")
	says(t, list(report.Selection{Findings: true}, outage...), "!WHAT HAPPENED")
	says(t, list(report.Selection{}, "../testdata/office-pause.log"),
		"     5  was lost to node 3 at 17:18:08.653 [peers saw: 3:11], and wrote at 17:18:09.369 [5:13]\n")
}

// "Was lost to node 1, but wrote on" was told of a node that was paused, and woke within a second: it wrote nothing
// until the other heard it again. Nobody told until when another one was cut off, which wrote on.
func TestListTellsUntilWhenANodeWasLost(t *testing.T) {
	const log = `{"level":"info","time":"2026-11-29T14:00:%06.3fZ","cluster":"c","node":%d,"incarnation":"a",` +
		`"algo":"bully","seq":%d,"hlc":"%d.0","term":4,"event":%q,%s"role":"looking","leader":0,` +
		`"guarantee":"best-effort"}` + "\n"
	for second, want := range map[float64]string{
		5.84: "     2  was lost to node 1 at 14:00:05.000 [peers saw: 1:2], and wrote at 14:00:05.840 [2:2]\n",
		5.04: "     2  was lost to node 1 from 14:00:05.000 [peers saw: 1:2] to 14:00:05.850 [peers saw: 1:3], " +
			"but wrote on\n",
	} {
		b := rounds.NewBuilder()
		text, seq := "", [3]int{}
		add := func(second float64, node int, event, rest string) {
			seq[node]++
			at := 1795960800000000 + int(second*1e6)
			text += fmt.Sprintf(log, second, node, seq[node], at, event, rest)
		}
		add(1, 1, "start", "")
		add(1, 2, "start", "")
		add(5, 1, "peers", `"alive":[1],"evidence":"heartbeat-missed 2",`)
		add(second, 2, "timeout", "")
		add(5.85, 1, "peers", `"alive":[1,2],"evidence":"heartbeat-back 2",`)
		add(8, 1, "timeout", "")
		add(8, 2, "timeout", "")
		if _, err := logs.Read(strings.NewReader(text), b); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.List(&out, b.History().Groups[0], report.Selection{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// A rolling restart and a crash were told by one word: a node that was told to stop says so also where it did not lead.
func TestListTellsWhoWasToldToStop(t *testing.T) {
	const log = `{"level":"info","time":"2026-11-29T14:00:0%.1fZ","cluster":"c","node":1,"incarnation":"a",` +
		`"algo":"bully","seq":%d,"hlc":"1795960803040037.%d","term":4,"event":%q,"detail":%q,"why":["asked"],` +
		`"role":"follower",` +
		`"leader":5,"guarantee":"lease"}` + "\n"
	const left = `{"level":"info","cluster":"c","node":1,"time":"2026-11-29T14:00:03.5Z",` +
		`"message":"the node resigned and left"}` + "\n"
	for why, want := range map[string]string{
		"told to stop by SIGTERM": "     1  was told to stop by SIGTERM [1:2], and ended at 14:00:03.500 [1:3]\n",
		"asked by 10.0.0.7":       "     1  was told to stop, and ended at 14:00:03.500 [1:3]\n",
	} {
		b := rounds.NewBuilder()
		text := fmt.Sprintf(log, 1.0, 1, 0, "start", "") + fmt.Sprintf(log, 3.0, 2, 1, "resign", why) +
			fmt.Sprintf(log, 3.1, 3, 2, "receive", "") + left
		if _, err := logs.Read(strings.NewReader(text), b); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		g := b.History().Groups[0]
		if err := report.List(&out, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		says(t, out.String(), want)
		out.Reset()
		if err := report.WhyNot(&out, g, 1); err != nil {
			t.Fatal(err)
		}
		if told := why != "asked by 10.0.0.7"; told {
			tells(t, out.String(),
				"its process ended at 14:00:03.500, by its own word: told to stop by SIGTERM [1:3 1:2].")
		}
	}
}

// "It was asked to resign, and stands again when it is asked to" was told of a node that was told to stop,
// where its log
// ends before its process.
func TestWhoWasToldToStopStandsNoMore(t *testing.T) {
	const log = `{"level":"info","time":"2026-11-29T14:00:0%dZ","cluster":"c","node":1,"incarnation":"a",` +
		`"algo":"bully","seq":%d,"hlc":"1795960803040037.%d","term":4,"event":%q,"detail":%q,"role":"follower",` +
		`"leader":5,"why":["asked"],"guarantee":"lease"}` + "\n"
	for why, want := range map[string]string{
		"told to stop by SIGTERM": "told to stop by SIGTERM [1:2].",
		"asked by 10.0.0.7":       "asked to resign [1:2].",
	} {
		b := rounds.NewBuilder()
		text := fmt.Sprintf(log, 1, 1, 0, "start", "") + fmt.Sprintf(log, 3, 2, 1, "resign", why)
		if _, err := logs.Read(strings.NewReader(text), b); err != nil {
			t.Fatal(err)
		}
		var out, whyNot bytes.Buffer
		g := b.History().Groups[0]
		if err := errors.Join(report.List(&out, g, report.Selection{}), report.WhyNot(&whyNot, g, 1)); err != nil {
			t.Fatal(err)
		}
		says(t, out.String(), "Not standing for election: node 1, "+want)
		if told := why != "asked by 10.0.0.7"; told {
			tells(t, whyNot.String(), "Node 1 does not stand for election: "+want)
		} else {
			tells(t, whyNot.String(), "it was asked to resign [1:2], and stands again when")
		}
	}
}

// A node without a log has a line, too, of what others saw: the list left out that one ended and came back. A process
// may say that it ended after the last record: the records "end at 01:07:34.769" was told beside that.
func TestListTellsOfANodeWithoutALog(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 1, 7, s, 0, time.UTC) }
	lost := rounds.Detection{
		Node: 1, Evidence: "link-closed 4, dial-refused 4", Ref: rounds.Ref{Node: 1, Seq: 3}, At: at(7),
	}
	cause := rounds.Cause{Lost: 4, At: at(7), Detections: []rounds.Detection{lost}}
	g := &rounds.Group{
		From: at(0), Until: at(34), Rounds: []*rounds.Round{{Term: 2, Cause: cause}},
		Nodes: []rounds.Node{{ID: 1, Records: 3, Lives: []rounds.Life{{Until: at(34), Events: []rounds.LifeEvent{
			{Kind: rounds.Ended, Known: rounds.OwnWord, At: at(35), Ref: rounds.Ref{Node: 1, Seq: 3}},
		}}}}, {ID: 4}, {ID: 5, Records: 1, Lives: []rounds.Life{{Until: at(34)}}}},
		Leaderships: []rounds.Leadership{{Leader: 5, Term: 2, First: rounds.Ref{Node: 5, Seq: 1}, From: at(8)}},
	}
	list := func() string {
		var out bytes.Buffer
		if err := report.List(&out, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const ended = "     4  ended, as node 1 saw at 01:07:07.000 [peers saw: 1:3]"
	says(t, list(), ended+", and was there again later\n", "the records tell, which end at 01:07:35.000.")
	g.Nodes[0].Gone = []rounds.Dropped{{ID: 4, Detection: lost}}
	says(t, list(), ended+"\n")

	other := lost
	other.Node, other.Ref, other.At = 5, rounds.Ref{Node: 5, Seq: 2}, at(8)
	g.Nodes[2].Gone = []rounds.Dropped{{ID: 4, Detection: other}} // one death read as two
	says(t, list(), "     4  ended, as nodes 1 and 5 saw from 01:07:07.000 on [peers saw: 1:3 5:2]\n")

	other.Evidence = "heartbeat-missed 4" // whoever believed it alive before that does not tell that it is
	g.Nodes[2].Gone[0].Detection, g.Nodes[0].Gone, g.Rounds = other, nil, nil
	g.Nodes = append(g.Nodes, rounds.Node{ID: 6, Records: 1, Alive: []uint64{4}, Lives: []rounds.Life{{Until: at(7)}}})
	says(t, list(), " node 4 is silent and has no log here [peers saw: 5:2]",
		"     4  is silent, as node 5 noticed at 01:07:08.000 [peers saw: 5:2]\n")
	g.Nodes[3].Lives[0].Until = at(9)
	says(t, list(), " node 4 has no log here", "     4  was lost to node 5 at 01:07:08.000 [peers saw: 5:2]\n")
}

// "Records … end at 14:02:07.082" stood above "nobody led for at least 1.6 s, from 14:02:09.031 until the logs end":
// the lines behind the last record told the other end, and nothing named it. "Nothing is wrong" stood below that nobody
// leads.
func TestTheEndOfTheLogsIsTold(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 14, 2, s, 0, time.UTC) }
	in := rounds.Incident{
		Former: 2, FormerTerm: 4, From: at(9), Until: at(10), Leaderless: time.Second, Why: "voters 2 and 3 silent",
		Ended: rounds.Ending{Kind: rounds.EndedUnseen, Known: rounds.Inferred}, Terms: []uint64{6},
	}
	g := &rounds.Group{
		From: at(0), Until: at(7), Incidents: []rounds.Incident{in},
		Nodes:       []rounds.Node{{ID: 1, Records: 3, Lives: []rounds.Life{{Until: at(7)}}}},
		Leaderships: []rounds.Leadership{{Leader: 2, Term: 4, First: rounds.Ref{Node: 2, Seq: 1}, End: at(9)}},
		Rounds:      []*rounds.Round{{Term: 6, Incident: &in}},
	}
	list := func(s report.Selection) string {
		var out bytes.Buffer
		if err := report.List(&out, g, s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const records, none = "which end at 14:02:07.000", "as far as the records tell\n"
	says(t, list(report.Selection{}), records+", and other lines at 14:02:10.000.")
	says(t, list(report.Selection{Findings: true}), "nothing else is wrong, "+none, "!nothing is wrong")
	var out bytes.Buffer
	if err := report.Explain(&out, g, g.Rounds[0], false); err != nil {
		t.Fatal(err)
	}
	tells(t, out.String(), "Nobody led for at least 1 s, from 14:02:09.000 until the logs end at 14:02:10.000: voters")
	g.Incidents[0].Leader, in.Leader = 1, 1
	says(t, list(report.Selection{Findings: true}), records+".", "nothing is wrong, "+none)
}

// "The longest known 366 ms" hid the change of which no record tells since when nobody led: a leader that is frozen, or
// without a lease silent to the others, may have led nobody for longer. One that ended is known to have led until then.
func TestTheLongestMayBeAnother(t *testing.T) {
	head := func(name string) string { return strings.Join(report.Head(caseOf(t, name)), "\n") }
	says(t, head("clocks-all-differ"), "the longest known 366 ms from 11:50:07.332 on: the process of node 4 ended (",
		"[peers saw: 3:15 3:7]. That before node 5 led term 7, at 11:50:20.722, may have been longer "+
			"[peers saw: 5:3@37263644 1:18 5:2@37263644]: since when is not known.")
	says(t, head("outage-17s-quorum-lost"), "the longest at least 16.2 s from 11:51:16.284 on", "!may have been longer")
}

// A log that is cut off was named by its missing messages only: its node is told to have written until then, if others
// followed it later, or if it wrote each step, and was neither silent nor ended.
func TestListTellsOfALogThatEndsEarly(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 29, 14, 1, s, 0, time.UTC) }
	life := rounds.Life{From: at(0), Until: at(24), Last: rounds.Ref{Node: 2, Seq: 130}}
	led := rounds.Leadership{Leader: 2, Term: 4, From: at(29), Followers: []rounds.Follower{{
		Node: 1, From: at(29), First: rounds.Ref{Node: 1, Seq: 7},
	}}}
	const early = "     2  its records end at 14:01:24.000 [2:130]"
	for name, c := range map[string]struct {
		change func(l *rounds.Life, led *rounds.Leadership)
		want   string
	}{
		"it led later": {func(*rounds.Life, *rounds.Leadership) {}, early + "\n"},
		"it had led":   {func(_ *rounds.Life, led *rounds.Leadership) { led.From = at(20) }, "!its records end"},
		"it wrote all steps": {func(l *rounds.Life, led *rounds.Leadership) {
			l.Debug, led.From = true, at(20)
		}, early},
		"it was silent": {func(l *rounds.Life, led *rounds.Leadership) {
			l.Debug, led.From = true, at(20)
			l.Events = []rounds.LifeEvent{{Kind: rounds.Silent, At: at(25), Known: rounds.PeersSaw}}
		}, "!its records end"},
	} {
		l, led := life, led
		c.change(&l, &led)
		g := &rounds.Group{
			From: at(0), Until: at(50), Rounds: []*rounds.Round{{Term: 4}}, Leaderships: []rounds.Leadership{led},
			Nodes: []rounds.Node{{ID: 2, Records: 130, Lives: []rounds.Life{l}}},
		}
		var out bytes.Buffer
		if err := report.List(&out, g, report.Selection{}); err != nil {
			t.Fatal(name, err)
		}
		says(t, out.String(), c.want)
	}
}

// "The wall clock of node 2 is 37 s behind" was told of one that somebody had set right.
func TestAClockThatWasSetRightIsNotBehind(t *testing.T) {
	for is, sets := range map[string][]rounds.ClockSet{
		"is":                          nil,
		"was, until somebody set it,": {{By: 37 * time.Second}},
	} {
		g := &rounds.Group{
			Clocks: []rounds.Clock{{Node: 2, Offset: -37 * time.Second, Error: time.Millisecond}},
			Nodes:  []rounds.Node{{ID: 1, Records: 1}, {ID: 2, Records: 1, Lives: []rounds.Life{{ClockSets: sets}}}},
		}
		var out bytes.Buffer
		if err := report.Remarks(&out, g); err != nil {
			t.Fatal(err)
		}
		says(t, out.String(), "The wall clock of node 2 "+is+" 37 s behind that of node 1, ")
	}
}

// "Node 2 is silent since …; and ended" was told of one that was told to stop as it woke, and "was silent to
// 14:43:29" of one that was seen again then, by a peer that had slept: it had gone on sooner, and was dead.
func TestListTellsOfASilenceThatIsOver(t *testing.T) {
	at := time.Date(2026, 11, 29, 15, 5, 53, 0, time.UTC)
	silent := rounds.LifeEvent{
		Kind: rounds.Silent, At: at, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: 3, Seq: 4},
	}
	for _, c := range []struct {
		next rounds.LifeEventKind
		by   rounds.Confidence
		want string
	}{
		{rounds.Ended, rounds.OwnWord, " on; ended "},
		{rounds.Resumed, rounds.PeersSaw, " to 15:05:54.000 at the latest [peers saw: 2:9]\n"},
		{rounds.Resumed, rounds.OwnWord, " to 15:05:54.000 [2:9]\n"},
	} {
		then := rounds.LifeEvent{Kind: c.next, At: at.Add(time.Second), Known: c.by, Ref: rounds.Ref{Node: 2, Seq: 9}}
		g := &rounds.Group{
			From: at.Add(-time.Minute), Until: at.Add(time.Minute), Rounds: []*rounds.Round{{Term: 4}},
			Nodes: []rounds.Node{{ID: 2, Records: 9, Lives: []rounds.Life{{
				From: at.Add(-time.Second), Until: at, Last: then.Ref, Events: []rounds.LifeEvent{silent, then},
			}}}},
		}
		var out bytes.Buffer
		if err := report.List(&out, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		says(t, out.String(), "     2  was silent to node 3 from 15:05:53.000 at the latest [peers saw: 3:4]"+c.want)
	}
}

// "Who may not lead now": two of the four voters that ran stood aside, and only why-not told it, asked of each.
func TestHeadTellsWhoStandsAside(t *testing.T) {
	says(t, strings.Join(report.Head(caseOf(t, "paused-and-killed")), "\n"), "\nNot standing for election: node 2, "+
		`paused since 2026-11-25T09:22:07Z by 127.0.0.1 because "disk swap 2" [2:6].`+"\n")
	at := time.Date(2026, 11, 29, 14, 1, 0, 0, time.UTC)
	node := func(id uint64, why string, ended bool) rounds.Node {
		l := rounds.Life{Until: at}
		if ended {
			last := rounds.Ref{Node: id, Seq: 9}
			l.Events = []rounds.LifeEvent{{Kind: rounds.Ended, Known: rounds.OwnWord, At: at, Ref: last}}
		}
		return rounds.Node{
			ID: id, Records: 9, Ineligible: why, Aside: rounds.Ref{Node: id, Seq: 8}, Lives: []rounds.Life{l},
		}
	}
	g := &rounds.Group{
		Until: at, Leaderships: []rounds.Leadership{{Leader: 5, Term: 1, First: rounds.Ref{Node: 5, Seq: 1}, From: at}},
		Nodes: []rounds.Node{
			node(1, "paused", false), node(2, "", false), node(3, "paused", false), node(4, "paused", true),
			{ID: 5, Records: 1, Lives: []rounds.Life{{Until: at}}},
		},
	}
	says(t, strings.Join(report.Head(g), "\n"),
		"\nNot standing for election: nodes 1 and 3, paused [1:8 3:8]; node 2, asked to resign [2:8].")
	g.Nodes = g.Nodes[3:]
	says(t, strings.Join(report.Head(g), "\n"), "!Not standing")
}

// "What do I do now?" Where nobody leads, or no record tells that a node runs, the head names the commands that tell
// more. Each of them is about a node or a term that there is. Of a cluster that was stopped there is nothing more to
// tell.
func TestHeadNamesTheNextCommand(t *testing.T) {
	for name, want := range map[string]string{
		"outage-17s-quorum-lost": "\nNext: ringleader why-not 1 LOG… (why node 1 does not lead).\n\n",
		"raft-false-two-leaders": "\nNext: ringleader why-not 1 LOG… (why node 1 does not lead) and " +
			"ringleader explain 3 LOG… (how term 3 went).\n\n",
		"paused-and-killed": "\nNext: ringleader why-not 3 LOG… (why node 3 does not lead) and " +
			"ringleader explain 3 LOG… (how term 3 went).\n\n",
		"ring-neighbour-frozen": "\nNext: ringleader why-not 1 LOG… (what is known of node 1).\n\n",
		"all-told-to-stop":      "!Next: ", // it tells why
		"lease-awaited":         "!Next: ", // node 2 leads, and the death of node 3 is proven
	} {
		var out bytes.Buffer
		if err := report.List(&out, caseOf(t, name), report.Selection{}); err != nil {
			t.Fatal(name, err)
		}
		says(t, out.String(), want)
	}
}

// Where nobody is known to lead no more, the command is not about the one that may lead.
func TestTheNextCommandIsNotAboutWhoMayLead(t *testing.T) {
	at := time.Date(2026, 11, 29, 14, 1, 0, 0, time.UTC)
	node := func(id uint64) rounds.Node { return rounds.Node{ID: id, Records: 9, Lives: []rounds.Life{{Until: at}}} }
	g := &rounds.Group{
		Until: at, Leaderships: []rounds.Leadership{{Leader: 1, Term: 1, First: rounds.Ref{Node: 1, Seq: 1}, From: at}},
		Nodes: []rounds.Node{node(1), node(2)},
		Incidents: []rounds.Incident{{
			Former: 1, FormerTerm: 1, From: at, Until: at, Perhaps: at.Add(-time.Second),
			Ended: rounds.Ending{Kind: rounds.EndedUnseen, Known: rounds.Inferred},
		}},
	}
	var out bytes.Buffer
	if err := report.List(&out, g, report.Selection{}); err != nil {
		t.Fatal(err)
	}
	says(t, out.String(), "Perhaps nobody leads since ",
		"\nNext: ringleader why-not 2 LOG… (why node 2 does not lead).\n")
}
