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
	Kind, Leader, Term string
	From, Until        [2]float64
}

// states are the bars of the timeline for the group as a whole.
func states(t *testing.T, h *rounds.History) []bar {
	t.Helper()
	var page bytes.Buffer
	if err := render.HTML(&page, h); err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(page.String(), `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var groups []struct{ Timeline struct{ State []bar } }
	if err := json.Unmarshal([]byte(data), &groups); err != nil {
		t.Fatal(err)
	}
	return groups[0].Timeline.State
}

// "a timeline of who led when over all rounds (leaderships, followers, gaps without
// leader, overlaps in a warning colour)"
func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		log  string
		want []string
	}{
		// The loss is noticed at the first evidence, and believed by the last later.
		{"ring-kill", []string{"leads 5", "believed 5", "nobody ", "leads 4"}},
		// The leader that is cut off leads on, beside the one that the others elect.
		{"bully-cut", []string{"leads 5", "overlap 4", "leads 5"}},
	} {
		var got []string
		at := 0.0
		for _, s := range states(t, history(t, "../testdata/"+c.log+".log")) {
			if s.From[0] != at || s.Until[0] <= s.From[0] {
				t.Errorf("%s: a hole or a bar without width: %+v", c.log, s)
			}
			at = s.Until[0]
			got = append(got, s.Kind+" "+s.Leader)
		}
		if got = slices.Compact(got); at != 1 || !contains(got, c.want) {
			t.Errorf("%s: %q up to %v, want %q", c.log, got, at, c.want)
		}
	}
}

// contains reports whether all of want are in got, in this order.
func contains(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// Two lead at once: a warning where a finding says so, none where the word only
// had to reach the former leader.
func TestTimelineOfTwoLeaders(t *testing.T) {
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	leadership := func(leader, from, until uint64) rounds.Leadership {
		return rounds.Leadership{
			Leader: leader, Term: leader,
			First: rounds.Ref{Node: leader, Seq: 1}, Last: rounds.Ref{Node: leader, Seq: 9},
			From: start.Add(time.Duration(from) * time.Second), Until: start.Add(time.Duration(until) * time.Second),
		}
	}
	g := &rounds.Group{
		Algorithm: "bully", Nodes: []rounds.Node{{ID: 1}, {ID: 2}, {ID: 3}},
		Leaderships: []rounds.Leadership{leadership(1, 0, 2), leadership(2, 1, 4), leadership(3, 3, 5)},
		Findings: []rounds.Finding{{
			Name: rounds.Overlap, Term: 2, Records: []rounds.Ref{{Node: 2, Seq: 1}, {Node: 1, Seq: 9}},
		}},
	}
	var kinds []string
	for _, s := range states(t, &rounds.History{Groups: []*rounds.Group{g}}) {
		kinds = append(kinds, s.Kind)
	}
	if want := []string{"leads", "overlap", "leads", "hand-over", "leads"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
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
