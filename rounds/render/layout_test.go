package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

func text(t *testing.T, r *rounds.Round, columns int) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Text(&out, r, columns); err != nil {
		t.Fatal(err)
	}
	fits(t, out.String(), columns)
	return out.String()
}

// "100 nodes in one round stay readable": told by what they have in common.
func TestTextOfAHundred(t *testing.T) {
	got := text(t, roundOf(t, history(t, "testdata/ring-100.log"), 2), 80)
	if n := strings.Count(got, "\n"); n > 50 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"nodes 2-99", "98 × ELECTION > 3-100", "★ leads term 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A wider screen has room for more lanes.
func TestTextOnAWideScreen(t *testing.T) {
	got := text(t, roundOf(t, history(t, "testdata/ring-100.log"), 2), 240)
	if !strings.Contains(got, "●►●►●►●") {
		t.Errorf("no lanes in\n%s", got)
	}
}

// Ids have up to twenty digits: letters stand for those that are too long.
func TestTextOfLongIDs(t *testing.T) {
	r := trip(1<<64-1, 7, 1<<63)
	got := text(t, r, 80)
	for _, want := range []string{"a       b", "c is 18446744073709551615", "b is 9223372036854775808"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// "the ring (for ring algorithms, in place order)": a shuffled ring is drawn as
// its messages go round.
func TestPlaceOrder(t *testing.T) {
	got := text(t, trip(2, 9, 4, 7, 3), 80)
	if !strings.Contains(got, "2       9       4       7       3") {
		t.Errorf("not in place order:\n%s", got)
	}
}

// No columns for the lanes of many, none for a terminal that is too narrow.
func TestTextIsNeverTooWide(t *testing.T) {
	everyRound(t, func(t *testing.T, r *rounds.Round) {
		for _, columns := range []int{40, 80, 132} {
			text(t, r, columns)
		}
	})
}

// trip is a round in which ELECTION goes once round a ring.
func trip(nodes ...uint64) *rounds.Round {
	r := &rounds.Round{Algorithm: "ring", Term: 1}
	for i, from := range nodes {
		r.Messages = append(r.Messages, rounds.Message{
			Kind: "ELECTION", From: from, To: nodes[(i+1)%len(nodes)], Delivery: rounds.Arrived,
			SendStep: i, ReceiveStep: i + 1,
		})
		r.Steps = append(r.Steps, rounds.Step{
			Ref: rounds.Ref{Node: from, Seq: 1}, Event: "receive", Received: i - 1, Sent: []int{i},
		})
	}
	r.Messages[len(nodes)-1].ReceiveStep = -1
	r.Aftermath = len(r.Steps)
	return r
}

type bar struct {
	Kind, Leader, Term, Text string
	From, Until              float64
}

// line is the timeline of a group in the page.
type line struct {
	State, Bars []bar
	Rows        []string
	Events      []struct {
		Row               int
		Kind, Known, Text string
		At                float64
	}
	Length float64
}

// timelineOf returns the timeline of the first group.
func timelineOf(t *testing.T, h *rounds.History) line {
	t.Helper()
	var page bytes.Buffer
	if err := render.HTML(&page, h); err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(page.String(), `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var groups []struct{ Timeline line }
	if err := json.Unmarshal([]byte(data), &groups); err != nil {
		t.Fatal(err)
	}
	return groups[0].Timeline
}

// who returns the kinds and leaders of the bars of the group as a whole. It demands that they have neither holes
// nor bars without width.
func (l line) who(t *testing.T) (who []string) {
	t.Helper()
	at := 0.0
	for _, s := range l.State {
		if s.From != at || s.Until <= s.From {
			t.Errorf("a hole or a bar without width: %+v", s)
		}
		at = s.Until
		who = append(who, strings.TrimSpace(s.Kind+" "+s.Leader))
	}
	if at != l.Length {
		t.Errorf("bars up to %v of %v", at, l.Length)
	}
	return slices.Compact(who)
}

var start = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// sec returns the time so many seconds after the start.
func sec(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

func led(leader uint64, from, until float64) rounds.Leadership {
	return rounds.Leadership{
		Leader: leader, Term: leader,
		First: rounds.Ref{Node: leader, Seq: 1}, Last: rounds.Ref{Node: leader, Seq: 9},
		From: sec(from), Until: sec(until), End: sec(until),
	}
}

// Two lead at once: a warning where a finding says so, none where the word only
// had to reach the former leader.
func TestTimelineOfTwoLeaders(t *testing.T) {
	g := &rounds.Group{
		Algorithm: "bully", Nodes: []rounds.Node{{ID: 1}, {ID: 2}, {ID: 3}},
		Leaderships: []rounds.Leadership{led(1, 0, 2), led(2, 1, 4), led(3, 3, 5)},
		Findings: []rounds.Finding{{
			Name: rounds.Overlap, Term: 2, Records: []rounds.Ref{{Node: 2, Seq: 1}, {Node: 1, Seq: 9}},
		}},
	}
	var kinds []string
	for _, s := range timelineOf(t, &rounds.History{Groups: []*rounds.Group{g}}).State {
		kinds = append(kinds, s.Kind)
	}
	if want := []string{"leads", "overlap", "leads", "hand-over", "leads"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

// outage is a group whose leader dies. Nobody leads until the voters are back, and then node 1 to the end.
func outage() *rounds.Group {
	life := func(node uint64, from, until float64, events ...rounds.LifeEvent) rounds.Node {
		return rounds.Node{ID: node, Leader: 1, Term: 3, Lives: []rounds.Life{{
			First: rounds.Ref{Node: node, Seq: 1}, From: sec(from), Until: sec(until), Events: events,
		}}}
	}
	event := func(kind rounds.LifeEventKind, at float64, known rounds.Confidence, by uint64) rounds.LifeEvent {
		return rounds.LifeEvent{Kind: kind, At: sec(at), Known: known, Ref: rounds.Ref{Node: by, Seq: 17}}
	}
	g := &rounds.Group{
		Algorithm: "bully",
		Nodes: []rounds.Node{
			life(1, 0, 30, event(rounds.Started, 0, rounds.OwnWord, 1), event(rounds.Silent, 8, rounds.PeersSaw, 2),
				event(rounds.Paused, 18, rounds.OwnWord, 1), event(rounds.Resumed, 19, rounds.OwnWord, 1)),
			life(2, 1, 28, event(rounds.Suspected, 5, rounds.Inferred, 1)),
			life(3, 1, 9, event(rounds.Ended, 10, rounds.PeersSaw, 2)),
		},
		Leaderships: []rounds.Leadership{led(3, 2, 9), led(1, 20, 25)},
		Incidents: []rounds.Incident{
			{
				Leader: 3, Term: 3, Until: sec(2), Leaderless: time.Second, Why: "first leader",
				Anew: true,
			},
			{
				Former: 3, From: sec(10), Until: sec(20), Leaderless: 10 * time.Second,
				Why: "3 dead, 1 paused: 1 of 3 remains",
			},
		},
	}
	g.Leaderships[0].End = sec(10) // its lease was longer than its records
	g.Leaderships[1].End = time.Time{}
	g.Leaderships[1].Term = 3
	g.Leaderships[1].Followers = []rounds.Follower{
		{Node: 2, From: sec(21), Until: sec(22)}, {Node: 3, From: sec(21), Until: sec(22)},
	}
	return g
}

// A bar ends when the leadership was over; where the records tell no end, with the last record. The
// title of a gap says how long and why nobody led.
func TestTimelineOfAnOutage(t *testing.T) {
	l := timelineOf(t, &rounds.History{Groups: []*rounds.Group{outage()}})
	if got, want := l.who(t), []string{"nobody", "leads 3", "nobody", "leads 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range map[int]string{
		0: "nobody led for 1 s: first leader",
		2: "nobody led for 10 s: 3 dead, 1 paused: 1 of 3 remains",
		3: "node 1 leads for 10 s",
	} {
		if l.State[i].Text != want {
			t.Errorf("bar %d is titled %q, want %q", i, l.State[i].Text, want)
		}
	}
	for i, want := range []bar{
		{Kind: "leads", From: 2000, Until: 10_000},
		{Kind: "leads", From: 20_000, Until: 30_000},
		{Kind: "follows", From: 21_000, Until: 30_000}, // node 2 lives
		{Kind: "follows", From: 21_000, Until: 22_000}, // node 3 does not
	} {
		if got := l.Bars[i]; got.Kind != want.Kind || got.From != want.From || got.Until != want.Until {
			t.Errorf("bar %d is %+v, want %+v", i, got, want)
		}
	}
}

// Nobody leads at the end, of which no record tells, but other lines of the logs.
func TestTimelineOfAnOutageAtTheEnd(t *testing.T) {
	g := outage()
	g.Leaderships[1].End = start.Add(25 * time.Second)
	g.Incidents = append(g.Incidents, rounds.Incident{
		Former: 1, From: start.Add(25 * time.Second), Until: start.Add(32 * time.Second), Leaderless: 7 * time.Second,
	})
	l := timelineOf(t, &rounds.History{Groups: []*rounds.Group{g}})
	if last := l.State[len(l.State)-1]; last.Kind != "nobody" || last.Until != 32_000 {
		t.Errorf("the last bar is %+v", last)
	}
}

// Each event says what happened to which node, when, and how this is known.
func TestTimelineOfLives(t *testing.T) {
	g := outage()
	g.Nodes[2].Lives[0].Events = append(g.Nodes[2].Lives[0].Events, rounds.LifeEvent{
		Kind: rounds.Ended, At: start.Add(20 * time.Second), Known: rounds.Inferred, Ref: rounds.Ref{Node: 3, Seq: 1},
	}, rounds.LifeEvent{
		Kind: rounds.Resumed, At: start.Add(21 * time.Second), Known: rounds.PeersSaw,
		Ref: rounds.Ref{Node: 2, Seq: 18},
	})
	var got []string
	for _, e := range timelineOf(t, &rounds.History{Groups: []*rounds.Group{g}}).Events {
		got = append(got, e.Text)
	}
	if want := []string{
		"node 1 started at 00:00:00.000 (1:17)",
		"node 1 fell silent, peers saw it by 00:00:08.000 (2:17)",
		"node 1 was paused at 00:00:18.000 (1:17)",
		"node 1 resumed at 00:00:19.000 (1:17)",
		"node 2 was suspected, inferred, at 00:00:05.000 (1:17)",
		"node 3 ended, peers saw it at 00:00:10.000 (2:17)",
		"node 3 ended, inferred, by 00:00:20.000 (3:1)", // the next process of the node proves no more
		"node 3 resumed, peers saw it by 00:00:21.000 (2:18)",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A page of one round has the leadership before it, and those after it.
func TestTimelineOfOneRound(t *testing.T) {
	g := outage()
	g.Leaderships = []rounds.Leadership{led(1, 0, 2), led(2, 3, 4), led(3, 5, 6), led(4, 7, 8)}
	g.Incidents = nil
	for i, next := range g.Leaderships[1:] {
		former := g.Leaderships[i]
		g.Incidents = append(g.Incidents, rounds.Incident{
			Former: former.Leader, FormerTerm: former.Term, From: former.End, Leaderless: time.Second,
			Leader: next.Leader, Term: next.Term, Until: next.From,
		})
	}
	g.Rounds = []*rounds.Round{{Term: 3, Algorithm: "bully"}}
	want := []string{"leads 2", "nobody", "leads 3", "nobody", "leads 4", "unknown"}
	if got := timelineOf(t, &rounds.History{Groups: []*rounds.Group{g}}).who(t); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// No records at all make a page, too.
func TestEmptyHistory(t *testing.T) {
	var page bytes.Buffer
	if err := render.HTML(&page, &rounds.History{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "There are no records") {
		t.Error("it does not say that there is nothing")
	}
	for _, f := range formats {
		if err := f.draw(&page, &rounds.Round{Term: 1}); err != nil {
			t.Error(f.name, err)
		}
	}
}

// Many rounds: the page keeps the newest, and says how many it leaves out.
func TestManyRounds(t *testing.T) {
	g := &rounds.Group{Algorithm: "bully"}
	for term := range uint64(620) {
		g.Rounds = append(g.Rounds, &rounds.Round{Term: term + 1, Algorithm: "bully"})
	}
	var page bytes.Buffer
	if err := render.HTML(&page, &rounds.History{Groups: []*rounds.Group{g}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"120 older rounds are left out", fmt.Sprintf(`data-round="g0-t%d"`, 620)} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

// A page of a hundred nodes that all talk to all is of some megabytes.
func BenchmarkHTML(b *testing.B) {
	h := history(b, "testdata/bully-20.log")
	b.ReportAllocs()
	for b.Loop() {
		var page bytes.Buffer
		if err := render.HTML(&page, h); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(page.Len()))
	}
}
