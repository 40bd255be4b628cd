package render_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

var rewrite = flag.Bool("rewrite", false, "draw the golden pictures anew; they are to be looked at then")

// The logs of real clusters are those of package rounds. Those here are what
// `simulate --algorithm A --nodes N --initiator 1 --seed 7 --trace -o json` prints.
var drawn = []struct {
	log  string
	term uint64
}{
	{"../testdata/ring-kill.log", 2},
	{"../testdata/bully-cut.log", 2},
	{"../testdata/bully-restart.log", 3},
	{"../testdata/office-kill.log", 2},
	{"../testdata/office-pause.log", 2},
	{"testdata/ring-20.log", 2},
	{"testdata/bully-20.log", 2},
	{"testdata/ring-100.log", 2},
}

var formats = []struct {
	name string
	draw func(io.Writer, *rounds.Round) error
}{
	{"txt", func(w io.Writer, r *rounds.Round) error { return render.Text(w, r, 80) }},
	{"mmd", render.Mermaid},
	{"svg", render.SVG},
}

func TestGolden(t *testing.T) {
	for _, d := range drawn {
		r := roundOf(t, history(t, d.log), d.term)
		for _, f := range formats {
			base := filepath.Base(d.log)
			golden := fmt.Sprintf("testdata/%s-%d.%s", base[:len(base)-len(".log")], d.term, f.name)
			t.Run(filepath.Base(golden), func(t *testing.T) {
				var got bytes.Buffer
				if err := f.draw(&got, r); err != nil {
					t.Fatal(err)
				}
				if *rewrite {
					if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("drawn differently; -rewrite, and look at %s", golden)
				}
			})
		}
	}
}

func history(t testing.TB, file string) *rounds.History {
	t.Helper()
	b := rounds.NewBuilder()
	batch := logs.Batch{Paths: []string{file}}
	batch.Read(b, func(err error) { t.Fatal(err) })
	return b.History()
}

func roundOf(t testing.TB, h *rounds.History, term uint64) *rounds.Round {
	t.Helper()
	for _, g := range h.Groups {
		for _, r := range g.Rounds {
			if r.Term == term {
				return r
			}
		}
	}
	t.Fatalf("no term %d", term)
	return nil
}

// everyRound gives each round of every log there is to a test.
func everyRound(t *testing.T, test func(t *testing.T, r *rounds.Round)) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../testdata/*.log", "testdata/*.log"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal("no logs", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		for _, g := range history(t, file).Groups {
			for _, r := range g.Rounds {
				t.Run(fmt.Sprintf("%s-%d", filepath.Base(file), r.Term), func(t *testing.T) { test(t, r) })
			}
		}
	}
}
