package render_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// seen counts what is seen of a drawing, by a selector.
func (b *browser) seen(selector string) int {
	b.Helper()
	return eval[int](b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].filter(e => e.checkVisibility()).length`, selector))
}

// "filter by node and message kind": boxes to tick, by the keyboard too, that hide lanes and arrows and leave the
// rest as it was. They stay from round to round.
func TestFilter(t *testing.T) {
	b := open(t, history(t, "../testdata/bully-cut.log"))
	b.choose(2)
	const (
		lane   = `.diagram [data-n="2"]`
		kind   = `.diagram .message[data-k]`
		others = `.diagram [data-n]:not([data-n="2"]):not([data-k])`
		ends   = `.diagram [data-f="2"], .diagram [data-t="2"]`
	)
	summary := func() string { return eval[string](b, `document.querySelector("summary").textContent`) }
	all, messages, rest := b.seen(lane), b.seen(kind), b.seen(others)
	if all == 0 || messages == 0 || rest == 0 || summary() != "Show all nodes, all kinds of messages" {
		t.Fatalf("%d of the lane, %d messages, %d others, %q", all, messages, rest, summary())
	}
	eval[bool](b, `document.querySelector("summary").focus(), true`)
	b.press(kb.Enter, kb.Tab, kb.Tab, kb.Tab, " ") // the third node
	if n, m := b.seen(lane), b.seen(ends); n+m != 0 {
		t.Errorf("%d of the hidden lane, and %d of its messages, are seen", n, m)
	}
	if n := b.seen(others); n != rest {
		t.Errorf("%d of the other lanes, %d before", n, rest)
	}
	if got := summary(); got != "Show 4 of 5 nodes, all kinds of messages" {
		t.Errorf("the filter reads %q", got)
	}
	if n := eval[int](b, `replay.position`); n != 0 {
		t.Error("its keys moved the replay")
	}
	b.press("j", "k")
	if n := b.seen(lane) + b.seen(`.nodes li[data-node="3"]`); n != 0 {
		t.Errorf("in the next round, and back, %d of the lane are seen", n)
	}
	eval[bool](b, `document.querySelector("[data-nodes='3']").click(), true`)
	if n := b.seen(lane); n != all {
		t.Errorf("%d of the lane are back, of %d", n, all)
	}
	eval[bool](b, `document.querySelector("[data-kinds=ELECTION]").click(), true`)
	election := eval[int](b, `replay.round.kinds.findIndex(k => k.name === "ELECTION")`)
	if n := b.seen(fmt.Sprintf(`.diagram [data-k="%d"]`, election)); n != 0 {
		t.Errorf("%d of ELECTION are seen", n)
	}
	if n := b.seen(kind); n == 0 || n >= messages {
		t.Errorf("%d of %d messages are seen without ELECTION", n, messages)
	}
	b.shot("filter")
}

// The lines of a folded round are parts of one path for each kind: those of a hidden node go.
func TestFilterOfFoldedLines(t *testing.T) {
	b := open(t, history(t, "testdata/bully-20.log"))
	b.choose(2)
	const lines = `[...document.querySelectorAll(".diagram path[data-k]:not([data-t])")].flatMap(e =>
		e.getAttribute("d").match(/M/g) || []).length`
	all := eval[int](b, lines)
	eval[bool](b, `document.querySelector("[data-nodes='20']").click(), true`)
	some := eval[int](b, lines)
	eval[bool](b, `document.querySelector("[aria-label='none of the nodes']").click(), true`)
	none := eval[int](b, lines)
	eval[bool](b, `document.querySelector("[aria-label='all of the nodes']").click(), true`)
	if back := eval[int](b, lines); all <= some || some == 0 || none != 0 || back != all {
		t.Errorf("%d lines, without node 20 %d, without any %d, and in the end %d", all, some, none, back)
	}
	if n := b.seen(`.diagram .lane`); n < 20 {
		t.Errorf("%d lanes are back", n)
	}
}
