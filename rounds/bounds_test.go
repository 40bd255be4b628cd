package rounds_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "A batch of 300 MB in at most 200 MB of memory": a Builder that holds few records at a time tells the same as one
// that holds all.
func TestBoundsTellTheSame(t *testing.T) {
	for _, name := range []string{
		"bully-cut", "bully-kill", "bully-kill-info", "bully-pause", "bully-restart", "bully-rolling", "office-cut",
		"office-kill", "office-no-quorum", "office-pause", "office-ring-kill", "ring-kill", "ring-pause", "ring-restart",
		"ring-rolling",
	} {
		dir := writeLong(t, name, 60)
		files, errs := logs.Files([]string{dir})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		full := rounds.NewBriefBuilder()
		which := report.Selection{}
		bounded := rounds.NewBoundedBuilder(rounds.Bounds{Records: 1500, Retain: which.Retain})
		for _, b := range []*rounds.Builder{full, bounded} {
			logs.Merge(files, b, func(err error) { t.Error(err) })
		}
		if n := bounded.Late(); n > 0 {
			t.Errorf("%s: %d records came late", name, n)
		}
		want, got := listed(t, full.History()), listed(t, bounded.History())
		if got != want {
			t.Errorf("%s:\n%s", name, differences(got, want))
		}
	}
}

// writeLong writes a file for each node of a fixture: what happens in it happens many times.
func writeLong(t *testing.T, name string, times int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	records := fixture(t, name)
	byNode := map[uint64][]trace.Record{}
	for _, rec := range records {
		byNode[rec.Node] = append(byNode[rec.Node], rec)
	}
	for i := range times {
		for id, own := range byNode {
			f, err := os.OpenFile(filepath.Join(dir, "n"+string(rune('0'+id))+".log"),
				os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			writeLaterIn(t, f, own, i, lastTermOf(records))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func lastTermOf(records []trace.Record) (last uint64) {
	for _, rec := range records {
		last = max(last, rec.Term)
	}
	return last
}

// listed returns the list of a history, and its remarks.
func listed(t *testing.T, h *rounds.History) string {
	t.Helper()
	var out bytes.Buffer
	for _, g := range h.Groups {
		if err := report.List(&out, g, report.Selection{}); err != nil {
			t.Fatal(err)
		}
		if err := report.Remarks(&out, g); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func differences(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	shown := 0
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] && shown < 4 {
			b.WriteString("got  " + g[i] + "\nwant " + w[i] + "\n")
			shown++
		}
	}
	return b.String()
}
