package render_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "Four records that name 200,000 ids": the nodes that did something have lanes, and the others share one.
func TestManyNodes(t *testing.T) {
	const nodes = 200_000
	alive := make([]uint64, nodes)
	for i := range alive {
		alive[i] = uint64(i + 1)
	}
	b := rounds.NewBuilder()
	seq := uint64(0)
	add := func(rec trace.Record) {
		seq++
		rec.Level, rec.Cluster, rec.Algo, rec.Guarantee = "debug", "many", "bully", "best-effort"
		rec.Node, rec.Seq, rec.Incarnation = nodes-1, seq, "aa"
		rec.Time = time.Date(2026, 11, 21, 12, 0, int(seq), 0, time.UTC)
		b.Add(&rec)
	}
	add(trace.Record{Event: "peers", Alive: alive, Evidence: "joined"})
	add(trace.Record{Event: "timeout", Term: 1, Leader: nodes - 1, LeaderChange: trace.Elected})
	add(trace.Record{Event: "peers", Term: 1, Leader: nodes - 1, Alive: []uint64{1, 2}})
	add(trace.Record{Event: "peers", Term: 1, Leader: nodes - 1, Alive: alive})
	h := b.History()
	r := h.Groups[0].Rounds[0]
	for name, write := range map[string]func(io.Writer) error{
		"html":    func(w io.Writer) error { return render.HTML(w, h) },
		"svg":     func(w io.Writer) error { return render.SVG(w, r) },
		"mermaid": func(w io.Writer) error { return render.Mermaid(w, r) },
		"text":    func(w io.Writer) error { return render.Text(w, r, 80) },
		"list":    func(w io.Writer) error { return report.List(w, h.Groups[0], report.Selection{}) },
		"show":    func(w io.Writer) error { return report.Show(w, h.Groups[0], r, false) },
	} {
		var out bytes.Buffer
		begin := time.Now()
		if err := write(&out); err != nil {
			t.Fatal(name, err)
		}
		if took := time.Since(begin); out.Len() > 200_000 || took > 10*time.Second {
			t.Errorf("%s: %d bytes in %v", name, out.Len(), took)
		}
		if (name == "html" || name == "svg") && !strings.Contains(out.String(), "199873 more") {
			t.Errorf("%s does not say how many more there are", name)
		}
	}
}

// A page of many rounds is drawn as it is written: one that cannot be written takes little memory.
func TestPageInPieces(t *testing.T) {
	h := history(t, "../testdata/bully-kill.log")
	g := h.Groups[0]
	for term := range uint64(200) {
		r := *g.Rounds[0]
		r.Term = 1000 + term
		g.Rounds = append(g.Rounds, &r)
	}
	took := func(w io.Writer, want error) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := render.HTML(w, h); !errors.Is(err, want) {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	took(io.Discard, nil) // what is made only once
	if all, none := took(io.Discard, nil), took(full{}, errFull); none > all/4 {
		t.Errorf("%d bytes of memory for a page that cannot be written, %d for one that can", none, all)
	}
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }
