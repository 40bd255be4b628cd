package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

// overlaps draws an SVG, and tells of the texts that overlap one another, or leave the drawing.
const overlaps = `(svg => {
	document.body.innerHTML = svg;
	const all = [...document.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
	const out = document.querySelector("svg").getBoundingClientRect();
	const bad = all.length < 8 ? ["hardly any text"] : [];
	all.forEach(([text, a], i) => {
		if (a.left < out.left || a.right > out.right || a.top < out.top || a.bottom > out.bottom)
			bad.push(text + " leaves");
		for (const [other, b] of all.slice(i + 1)) {
			if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 &&
				Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) bad.push(text + " overlaps " + other);
		}
	});
	return bad;
})`

// No text in a drawing overlaps another one, from 5 nodes to 100. The height of a text's box has the room below its
// letters for tails, which is shared.
func TestTextsDoNotOverlap(t *testing.T) {
	b := launch(t)
	b.show([]byte("<!doctype html><meta charset=utf-8><title>SVG</title><body></body>"))
	everyRound(t, func(t *testing.T, r *rounds.Round) {
		source, err := json.Marshal(svg(t, r))
		if err != nil {
			t.Fatal(err)
		}
		if bad := eval[[]string](b, fmt.Sprintf("%s(%s)", overlaps, source)); len(bad) > 0 {
			t.Errorf("%d: %q", len(bad), bad[:min(len(bad), 12)])
		}
	})
}

func svg(t *testing.T, r *rounds.Round) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.SVG(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A drawing tells kinds apart by letters: each has one of its own in the legend, which stands in the drawing itself.
func TestLegendOfSVG(t *testing.T) {
	everyRound(t, func(t *testing.T, r *rounds.Round) {
		got := svg(t, r)
		seen := map[string]bool{}
		for _, c := range r.Counts {
			_, rest, ok := strings.Cut(got, `class="soft">`+c.Kind+`</text>`)
			if !ok || rest == "" {
				t.Fatalf("no %s in the legend", c.Kind)
			}
			before := got[:len(got)-len(rest)]
			before = before[:strings.LastIndex(before, "</text><text")]
			letter := before[strings.LastIndex(before, ">")+1:]
			if len(letter) != 1 || seen[letter] {
				t.Errorf("%s has the letter %q", c.Kind, letter)
			}
			seen[letter] = true
		}
	})
}

// Where lanes are narrow, the messages of one kind from one step to many nodes are one line with their number.
func TestBundles(t *testing.T) {
	got := svg(t, roundOf(t, history(t, "testdata/bully-20.log"), 2))
	for _, want := range []string{">E ×19</text>", ">C ×19</text>", ">E ×171</text>"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%d of %q, want one", strings.Count(got, want), want)
		}
	}
	if n := strings.Count(got, `class="head`); n > 200 {
		t.Errorf("%d heads of arrows", n)
	}
}
