package render_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// nodeState is what the page says of a node, as its list of nodes has it.
type nodeState struct {
	Node, Stand, Leader, Term string
}

const nodeStates = `[...document.querySelectorAll(".nodes li")].map(li => ({
	Node: li.dataset.node, Stand: li.dataset.stand, Leader: li.dataset.leader, Term: li.dataset.term}))`

// "step-by-step replay forwards and backwards showing each node's state (role,
// leader, term) after every step", "keyboard (arrows, space, Home/End, j/k for
// rounds)".
func TestReplay(t *testing.T) {
	for _, d := range drawn {
		t.Run(fmt.Sprintf("%s-%d", filepath.Base(d.log), d.term), func(t *testing.T) {
			h := history(t, d.log)
			r := roundOf(t, h, d.term)
			b := open(t, h)
			b.choose(r.Term)
			b.at(r, 0)
			for i := range min(len(r.Steps), 45) {
				b.press(kb.ArrowRight)
				b.at(r, i+1)
			}
			b.press(kb.End)
			b.at(r, len(r.Steps))
			b.press(kb.ArrowRight) // no further
			b.at(r, len(r.Steps))
			b.press(kb.ArrowLeft, kb.ArrowLeft)
			b.at(r, len(r.Steps)-2)
			b.press(kb.Home)
			b.at(r, 0)
		})
	}
}

// choose goes to the round of a term by the keyboard: the page opens with the
// last one.
func (b *browser) choose(term uint64) {
	b.Helper()
	want := strconv.FormatUint(term, 10)
	for range 50 {
		if eval[string](b, `replay.round.term`) == want {
			return
		}
		b.press("k")
	}
	b.Fatalf("no way to term %d", term)
}

// at checks that the page stands after so many steps, and says of every node
// what the model does.
func (b *browser) at(r *rounds.Round, position int) {
	b.Helper()
	if got := eval[int](b, `replay.position`); got != position {
		b.Fatalf("after %d steps, want %d", got, position)
	}
	last := map[string]*rounds.Step{}
	for i := range r.Steps[:position] {
		last[id(r.Steps[i].Ref.Node)] = &r.Steps[i]
	}
	for _, got := range eval[[]nodeState](b, nodeStates) {
		st := last[got.Node]
		if st == nil {
			continue // the rounds before tell
		}
		stand := map[string]string{"0": "looking", got.Node: "leader"}[id(st.Leader)]
		if stand == "" {
			stand = "follower"
		}
		if got.Stand == "gone" { // in the eyes of a later step
			stand = "gone"
		}
		want := nodeState{got.Node, stand, id(st.Leader), id(cmp.Or(st.LeaderTerm, r.Term))}
		if got != want {
			b.Fatalf("after %d steps: %+v, want %+v", position, got, want)
		}
	}
	if position == 0 {
		return
	}
	st := r.Steps[position-1]
	active := eval[[]string](b, `[...document.querySelectorAll(".nodes .active")].map(li => li.dataset.node)`)
	if len(active) != 1 || active[0] != id(st.Ref.Node) {
		b.Fatalf("after %d steps %v is active, want %d", position, active, st.Ref.Node)
	}
	told := eval[string](b, `document.querySelector(".now .soft").textContent`)
	if !strings.HasPrefix(told, "record "+st.Ref.String()+",") {
		b.Fatalf("the step is told as %q, want %s", told, st.Ref)
	}
	b.flying(r, position)
}

// flying checks "the message in flight": sent, and not yet received.
func (b *browser) flying(r *rounds.Round, position int) {
	b.Helper()
	want := 0
	for _, m := range r.Messages {
		sent := m.SendStep >= 0 && m.SendStep < position
		onTheWay := m.ReceiveStep >= position || m.ReceiveStep < 0 && m.SendStep == position-1
		if sent && onTheWay && m.From != m.To {
			want++
		}
	}
	if got := eval[int](b, `document.querySelectorAll(".stage .flight").length`); got != min(want, 300) {
		b.Fatalf("after %d steps %d messages are on their way, want %d", position, got, want)
	}
}

func id(n uint64) string { return strconv.FormatUint(n, 10) }

// "play with a slow-motion factor (… adjustable)"
func TestPlay(t *testing.T) {
	h := history(t, "../testdata/ring-kill.log")
	b := open(t, h)
	if got := eval[string](b, `document.querySelector(".speed").textContent`); got != "1 ms is shown as 1 s" {
		t.Errorf("the speed is %q", got)
	}
	b.press("-")
	if got := eval[string](b, `document.querySelector(".speed").textContent`); got != "1 ms is shown as 2 s" {
		t.Errorf("slower is %q", got)
	}
	for range 20 {
		b.press("+")
	}
	b.press(" ")
	b.await(`replay.playing !== 0`)
	b.press(" ")
	b.await(`replay.playing === 0`)
	b.press(" ")
	b.await(`replay.playing === 0 && replay.position === replay.steps.length`)
}

// "list of rounds to choose from with findings"; a finding leads to its records,
// a leadership in the timeline to its round.
func TestChoose(t *testing.T) {
	b := open(t, history(t, "../testdata/bully-cut.log"))
	const proof = ".finding [data-ref]:not(:disabled)"
	for eval[int](b, `document.querySelectorAll("`+proof+`").length`) == 0 {
		b.press("k")
	}
	ref := eval[string](b, `document.querySelector("`+proof+`").dataset.ref`)
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(proof))))
	if got := eval[string](b, `replay.steps[replay.position - 1].ref`); got != ref {
		t.Errorf("%s leads to %s", ref, got)
	}
	if n := eval[int](b, `document.querySelectorAll(".track.all .overlap").length`); n == 0 {
		t.Error("the timeline shows no two leaders at once")
	}
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".track.all [data-term='1']"))))
	if got := eval[string](b, `replay.round.term + " " + location.hash`); got != "1 #g0-t1" {
		t.Errorf("the timeline leads to %s", got)
	}
	b.press("j")
	if got := eval[string](b, `document.querySelector("[aria-current=true]").dataset.round`); got != "g0-t2" {
		t.Errorf("j leads to %s", got)
	}
	b.press("k", "k") // no further
	if got := eval[string](b, `document.querySelector("[aria-current=true]").dataset.round`); got != "g0-t1" {
		t.Errorf("k leads to %s", got)
	}
}

// Light and dark, at 360 pixels and with a hundred nodes; "visible focus",
// "prefers-reduced-motion respected".
func TestLooks(t *testing.T) {
	for _, look := range []struct {
		name, log string
		width     int64
		media     string
	}{
		{"five-light", "../testdata/ring-kill.log", 1280, "prefers-color-scheme=light"},
		{"five-dark", "../testdata/bully-cut.log", 1280, "prefers-color-scheme=dark"},
		{"narrow-light", "../testdata/bully-cut.log", 360, "prefers-color-scheme=light"},
		{"narrow-dark", "testdata/ring-100.log", 360, "prefers-color-scheme=dark"},
		{"five-380", "../testdata/office-kill.log", 380, "prefers-color-scheme=light"},
		{"five-2560", "../testdata/bully-cut.log", 2560, "prefers-color-scheme=light"},
		{"office-light", "../testdata/office-kill.log", 1280, "prefers-color-scheme=light"},
		{"office-dark", "../testdata/office-pause.log", 1280, "prefers-color-scheme=dark"},
		{"twenty-light", "testdata/bully-20.log", 1280, "prefers-color-scheme=light"},
		{"hundred-dark", "testdata/ring-100.log", 1280, "prefers-color-scheme=dark"},
	} {
		t.Run(look.name, func(t *testing.T) {
			b := open(t, history(t, look.log), look.media, "prefers-reduced-motion=reduce")
			b.size(look.width, 1400)
			b.press(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
			b.shot(look.name)
			if got := eval[int64](b, `document.documentElement.scrollWidth`); got > look.width {
				t.Errorf("%d pixels wide, on a screen of %d", got, look.width)
			}
			light := eval[int](b, `Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`)
			if dark := look.media == "prefers-color-scheme=dark"; dark != (light < 128) {
				t.Errorf("%s, and the background is %d", look.media, light)
			}
			moves := eval[string](b, `getComputedStyle(document.querySelector(".node .body")).transitionDuration`)
			if moves != "0s" {
				t.Errorf("it moves for %s where motion is not wanted", moves)
			}
			b.press(kb.Tab, kb.Tab)
			if got := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
				t.Errorf("the focus is not seen: outline %s", got)
			}
		})
	}
}

// Whatever a log holds stays text: no dialog, no element, no request; the
// browser itself looks.
func TestHostilePage(t *testing.T) {
	h := &rounds.History{}
	for _, text := range hostile {
		one := hostileHistory(text, 1<<63)
		h.Groups, h.Notes = append(h.Groups, one.Groups...), append(h.Notes, one.Notes...)
	}
	b := open(t, h)
	for range hostile {
		b.press(kb.End, "k")
	}
	if n := eval[int](b, `document.querySelectorAll("img, iframe, object, embed, link, a, [onload], [onerror]").length +
		document.scripts.length - 2`); n != 0 {
		t.Errorf("%d elements came out of a log", n)
	}
	name := eval[string](b, `document.querySelector(".group h2").textContent`)
	if !strings.HasPrefix(name, "</script>") {
		t.Errorf("the name of the cluster reads %q", name)
	}
}

// "What the logs cannot tell is said to be unknown, never guessed": node 9 wrote nothing after term 1, and node 2
// nothing until it was started again. "9 follows 5, term 1" was told of each later term. And "formulas and quotes only"
// where one asks for them.
func TestWhatAPageDoesNotKnow(t *testing.T) {
	paths, _ := filepath.Glob("../testdata/cases/outage-17s-quorum-lost/*.log")
	builder, batch := rounds.NewBuilder(), logs.Batch{Paths: paths}
	batch.Read(builder, func(err error) { t.Fatal(err) })
	b := open(t, builder.History())
	for _, want := range []struct {
		term  uint64
		state nodeState
	}{
		{6, nodeState{"9", "unknown", "0", "0"}},
		{4, nodeState{"2", "unknown", "0", "0"}},
		{3, nodeState{"3", "follower", "4", "2"}},
	} {
		b.choose(want.term)
		b.press(kb.Home)
		if !slices.Contains(eval[[]nodeState](b, nodeStates), want.state) {
			t.Errorf("before term %d: %+v, want %+v", want.term, eval[[]nodeState](b, nodeStates), want.state)
		}
	}
	const quotes = `[...document.querySelectorAll("q")].filter(q => q.offsetHeight > 0).length`
	if n := eval[int](b, quotes); n != 0 {
		t.Errorf("%d quotes unasked for", n)
	}
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS("#theory"))))
	if n := eval[int](b, quotes); n == 0 {
		t.Error("theory was asked for, and there is none")
	}
}
