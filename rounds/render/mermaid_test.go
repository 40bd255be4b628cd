package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "go.abhg.dev/goldmark/mermaid" // has Mermaid among its test data, see mermaidSource

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

// mermaidSource is Mermaid itself, as GitHub and others run it over a README.
func mermaidSource(t *testing.T) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.abhg.dev/goldmark/mermaid").Output()
	if err != nil {
		t.Fatalf("where the module with Mermaid is: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "internal/testdata/mermaid-*.js"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Mermaid in %s: %q, %v", dir, found, err)
	}
	source, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// arrow is a message in Mermaid's language.
var arrow = regexp.MustCompile(`(?m)^  n\d+(->>|-x|-->>|--x|-\)|--\))n\d+: `)

// timed is a message with the time of its sending, and of its receipt if there is one.
var timed = regexp.MustCompile(`^  n\d+\S+n\d+: \S+, -?\d+\.\d\d(→-?\d+\.\d\d ms| ms( \((lost|gone|no receipt)\))?)$`)

// Each arrow and each note of a step says when that was, counted from the beginning, which is told first.
func TestMermaidTimes(t *testing.T) {
	everyRound(t, func(t *testing.T, r *rounds.Round) {
		var diagram bytes.Buffer
		if err := render.Mermaid(&diagram, r); err != nil {
			t.Fatal(err)
		}
		if began := "0 ms is " + r.Split.Began.UTC().Format("2006-01-02 15:04:05.000 UTC"); !r.Split.Began.IsZero() &&
			!strings.Contains(diagram.String(), began) {
			t.Errorf("it does not say that %s", began)
		}
		for line := range strings.Lines(diagram.String()) {
			words := strings.TrimSuffix(strings.ReplaceAll(line, "#95;", "_"), "\n")
			if arrow.MatchString(line) && !timed.MatchString(words) {
				t.Errorf("no time in %q", line)
			}
		}
	})
}

// drawnByMermaid is what the real renderer makes of a diagram.
type drawnByMermaid struct {
	Error  string
	Actors []string // their names, in the upper row
	Arrows int
	Marked int // elements that only hostile text could have made
}

// renderer is a page with Mermaid in it.
func renderer(t *testing.T) (draw func(t *testing.T, diagram string) drawnByMermaid, shot func(string)) {
	b := launch(t)
	var page bytes.Buffer
	page.WriteString("<!doctype html><meta charset=utf-8><title>Mermaid</title><script>")
	page.Write(mermaidSource(t))
	page.WriteString(`</script><script>
mermaid.initialize({startOnLoad: false});
let count = 0, drawn = null;
async function draw(source) {
	drawn = null;
	const d = {Error: "", Actors: [], Arrows: 0, Marked: 0};
	try {
		const {svg} = await mermaid.render("m" + ++count, source);
		document.body.innerHTML = svg;
		d.Actors = [...document.body.querySelectorAll("text.actor")].map(e => e.textContent);
		d.Arrows = document.body.querySelectorAll(".messageLine0, .messageLine1").length;
		d.Marked = document.body.querySelectorAll("script, img, svg svg, [onload], [onerror]").length;
	} catch (e) { d.Error = String(e); }
	drawn = d;
}
</script><body></body>`)
	b.show(page.Bytes())
	b.await(`typeof draw === "function"`)
	return func(t *testing.T, diagram string) drawnByMermaid {
		t.Helper()
		source, err := json.Marshal(diagram)
		if err != nil {
			t.Fatal(err)
		}
		eval[bool](b, fmt.Sprintf("void draw(%s), true", source))
		b.await("drawn !== null")
		return eval[drawnByMermaid](b, "drawn")
	}, b.shot
}

// "mermaid (pastes into a README and renders)": the real Mermaid, in a real
// browser, draws every round there is, with a lane a node and every message; and
// of hostile text it makes nothing but text.
func TestMermaidRenders(t *testing.T) {
	draw, shot := renderer(t)
	check := func(t *testing.T, r *rounds.Round) {
		var diagram bytes.Buffer
		if err := render.Mermaid(&diagram, r); err != nil {
			t.Fatal(err)
		}
		got := draw(t, diagram.String())
		if got.Error != "" || got.Marked > 0 {
			t.Fatalf("%+v\n%.2000s", got, diagram.String())
		}
		if t.Name() == "TestMermaidRenders/office-kill.log-2" {
			shot("mermaid")
		}
		lanes := strings.Count(diagram.String(), "\n  participant ")
		arrows := len(arrow.FindAllString(diagram.String(), -1))
		if len(got.Actors) != 2*lanes || got.Arrows != arrows {
			t.Errorf("%d names of lanes and %d arrows, want 2 × %d and %d", len(got.Actors), got.Arrows, lanes, arrows)
		}
	}
	everyRound(t, check)
	for i, text := range hostile {
		t.Run(fmt.Sprint("hostile-", i), func(t *testing.T) {
			check(t, hostileHistory(text, 3).Groups[0].Rounds[0])
		})
	}
}
