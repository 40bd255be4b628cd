package render_test

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

// crowded returns how many of the elements overlap another one, or leave the box of the element around.
const crowded = `((list, around) => {
	const boxes = [...document.querySelectorAll(list)].map(e => e.getBoundingClientRect()).filter(b => b.width > 0);
	const out = document.querySelector(around).getBoundingClientRect();
	return boxes.filter((a, i) => a.left < out.left - 60 || a.right > out.right + 60 || boxes.some((b, j) => i !== j &&
		a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5)).length;
})`

// stretched is an outage that lasts so many times longer, and ends after midnight.
func stretched(times time.Duration) *rounds.Group {
	g := outage()
	longer := func(at *time.Time) {
		if !at.IsZero() {
			*at = start.Add(at.Sub(start)*times - times*time.Second)
		}
	}
	for i := range g.Leaderships {
		r := &g.Leaderships[i]
		longer(&r.From)
		longer(&r.Until)
		longer(&r.End)
		for j := range r.Followers {
			longer(&r.Followers[j].From)
			longer(&r.Followers[j].Until)
		}
	}
	for i := range g.Nodes {
		l := &g.Nodes[i].Lives[0]
		longer(&l.From)
		longer(&l.Until)
		for j := range l.Events {
			longer(&l.Events[j].At)
		}
	}
	for i := range g.Incidents {
		longer(&g.Incidents[i].From)
		longer(&g.Incidents[i].Until)
	}
	return g
}

// The timeline is to scale, with times of day that do not overlap, and with dates where it spans days. Its
// lens widens what is short. Pointing at a bar, or going to it by the keyboard, says what it is.
func TestTimelinePage(t *testing.T) {
	for _, c := range []struct {
		times time.Duration
		dates int
	}{{1, 1}, {3600, 2}, {86_400, 3}} {
		b := open(t, &rounds.History{Groups: []*rounds.Group{stretched(c.times)}})
		for _, width := range []int64{380, 1280, 2560} {
			b.size(width, 460)
			b.await(`document.querySelectorAll(".axis span").length > 1`)
			for _, lens := range []string{"plain", "lens"} {
				b.await(crowded + `(".axis span", ".axis") === 0`) // it is drawn anew for the new width
				b.shot(fmt.Sprintf("timeline-%d-%d-%s", c.times, width, lens))
				share := eval[float64](b, `document.querySelector(".all .nobody").getBoundingClientRect().width /
					document.querySelector(".all > div").getBoundingClientRect().width`)
				if plain := share > 0.06 && share < 0.07; plain != (lens == "plain") {
					t.Errorf("× %d at %d, %s: a fifteenth takes %.3f of the width", c.times, width, lens, share)
				}
				eval[bool](b, `document.querySelector(".lens").click(), true`)
			}
			if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%d pixels wide, on a screen of %d", got, width)
			}
		}
		if got := eval[int](b, `document.querySelectorAll(".axis b").length`); got < c.dates {
			t.Errorf("× %d: %d dates, want %d or more", c.times, got, c.dates)
		}
		const why = ": 3 dead, 1 paused: 1 of 3 remains"
		said := eval[string](b, `document.querySelectorAll(".all .nobody")[1].focus(),
			document.querySelector(".said").textContent`)
		if title := eval[string](b, `document.activeElement.title`); !strings.HasSuffix(said, why) || said != title {
			t.Errorf("the gap says %q, and has the title %q", said, title)
		}
	}
}

// Each kind of event has a shape of its own, and each confidence its look.
func TestTimelineMarks(t *testing.T) {
	b := open(t, &rounds.History{Groups: []*rounds.Group{outage()}})
	const count = `new Set([...document.querySelectorAll(".tracks .happened path")].map(e => %s)).size`
	for look, want := range map[string]int{
		`e.getAttribute("d")`:                      6,
		`getComputedStyle(e).fill`:                 2,
		`getComputedStyle(e).strokeDasharray`:      2,
		`e.closest(".happened").lastChild.data`:    2, // a question mark, or nothing
		`e.closest(".happened").title`:             6,
		`e.closest(".track").firstChild.outerHTML`: 3,
	} {
		if got := eval[int](b, fmt.Sprintf(count, look)); got != want {
			t.Errorf("%s: %d different ones, want %d", look, got, want)
		}
	}
	if got := eval[int](b, `document.querySelectorAll(".legend.events .mark-of").length`); got != 6+3 {
		t.Errorf("%d marks in the legend", got)
	}
}

// "no overlap at 5, 20 and 100 nodes (... repeated lines folded)": many peers tell within milliseconds that one fell
// silent. One mark stands for those that would cover it, and says how many they are.
func TestTimelineFoldsMarks(t *testing.T) {
	g := outage()
	var silent []rounds.LifeEvent
	for peer, at := range []float64{8, 8.01, 8.02, 8.03, 20} {
		silent = append(silent, rounds.LifeEvent{
			Kind: rounds.Silent, At: sec(at), Known: rounds.PeersSaw, Ref: rounds.Ref{Node: uint64(peer + 2), Seq: 17},
		})
	}
	g.Nodes[0].Lives[0].Events = silent
	b := open(t, &rounds.History{Groups: []*rounds.Group{g}})
	const drawn = `[...document.querySelectorAll(".tracks .happened:not([hidden])")]
		.filter(e => e.parentElement.previousSibling.textContent === "1")`
	for _, width := range []int64{380, 1280, 2560} {
		b.size(width, 460)
		b.await(drawn + `.length === 2`)
		if title := eval[string](b, drawn+`[0].title`); !strings.Contains(title, " (and 3 more, the last: ") {
			t.Errorf("at %d the mark of four says %q", width, title)
		}
	}
}

// "a dead leader's bar ends when it died": what happened to a process has its place on the timeline.
func TestTimelineHoldsAllEvents(t *testing.T) {
	for _, log := range []string{"shop-info", "office-kill", "bully-rolling"} {
		l := timelineOf(t, history(t, "../testdata/"+log+".log"))
		for _, e := range l.Events {
			if e.At < 0 || e.At > l.Length {
				t.Errorf("%s: %q, at %v of %v ms", log, e.Text, e.At, l.Length)
			}
		}
	}
}

// A log that begins when node 100 has led for long, by what it and the others write as they lose it: nobody can tell
// from it who led as the election began, and that nobody did was drawn.
func TestTimelineDrawsNothingUntold(t *testing.T) {
	got, want := timelineOf(t, history(t, "testdata/ring-100.log")).who(t), []string{"unknown", "leads 100"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Without the log of node 5, nobody tells when it ceased to lead term 5. It did at the latest when it led again: it was
// drawn as a second leader beside itself. Nor do they tell whether it led while nobody followed it.
func TestTimelineOfOneThatLedAgain(t *testing.T) {
	paths, _ := filepath.Glob("../testdata/cases/missing-leader-file/*.log")
	b, batch := rounds.NewBuilder(), logs.Batch{Paths: paths}
	batch.Read(b, func(err error) { t.Fatal(err) })
	l := timelineOf(t, b.History())
	want := []string{"leads 5", "hand-over 4", "leads 4", "hand-over 5", "leads 5", "unknown 5", "leads 5"}
	if got := l.who(t); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.ContainsFunc(l.Bars, func(b bar) bool {
		return strings.HasPrefix(b.Text, "node 5 perhaps leads term 5 for 2.1")
	}) {
		t.Errorf("node 5 surely led term 5 while node 4 did: %+v", l.Bars)
	}
}

// "a timeline of who led when over all rounds (leaderships, followers, gaps without
// leader, overlaps in a warning colour)"
func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		log  string
		want []string
	}{
		{"ring-kill", []string{"nobody", "leads 5", "nobody", "leads 4"}},
		// The leader that is cut off leads on, beside the one that the others elect, and takes over when it is back.
		{"bully-cut", []string{"nobody", "leads 5", "overlap 4", "leads 4", "hand-over 5", "leads 5"}},
	} {
		got := timelineOf(t, history(t, "../testdata/"+c.log+".log")).who(t)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.log, got, c.want)
		}
	}
}

// Where the records leave open when a leadership ended, the page tells no one length: "node 5 leads term 1 for 15.6 s"
// was told of one that was killed after five.
func TestTimelineOfWhatIsNotKnown(t *testing.T) {
	paths, _ := filepath.Glob("../testdata/cases/outage-17s-quorum-lost/*.log")
	b, batch := rounds.NewBuilder(), logs.Batch{Paths: paths}
	batch.Read(b, func(err error) { t.Fatal(err) })
	page := drawing(t, func(w io.Writer) error { return render.HTML(w, b.History()) })
	for _, want := range []string{
		"Nobody leads since 11:51:42.743 at the latest, perhaps since 11:51:40.410: ", // the head of the output
		"<br>nobody led for ≥16.2 s",
		"node 4 leads term 2 for 3.97 s, 5 followers",
		"node 4 perhaps leads term 2 for 990 ms more", // in its row
		"node 4 perhaps leads for 990 ms more",        // for all
		"nobody led for at least 16.2 s: voter 5 ended",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
