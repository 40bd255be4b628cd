package rounds_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/render"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "A batch of 300 MB in at most 200 MB of memory": a Builder that holds few records at a time tells the same as one
// that holds all.
func TestBoundsTellTheSame(t *testing.T) {
	for _, name := range []string{
		"bully-cut", "bully-kill", "bully-kill-info", "bully-pause", "bully-restart", "bully-rolling", "office-cut",
		"office-kill", "office-no-quorum", "office-pause", "office-ring-kill", "ring-kill", "ring-pause",
		"ring-restart", "ring-rolling", "shop-info",
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
			batch := logs.Batch{Paths: files}
			batch.Read(b, func(err error) { t.Error(err) })
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

// So does the whole History, if it is wanted; but not where a message goes from a round that was built to one that was
// not.
func TestWholeHistory(t *testing.T) {
	for _, name := range []string{
		"bully-cut", "bully-kill-info", "bully-restart", "bully-rolling", "office-cut", "office-kill",
		"office-no-quorum", "office-pause", "office-ring-kill", "ring-kill", "ring-restart",
	} {
		dir := writeLong(t, name, 40)
		files, _ := logs.Files([]string{dir})
		full := rounds.NewBuilder()
		bounded := rounds.NewBoundedBuilder(rounds.Bounds{
			Records: 1500, Whole: true, Steps: func(uint64) bool { return true },
		})
		var told []string
		for _, b := range []*rounds.Builder{full, bounded} {
			batch := logs.Batch{Paths: files}
			batch.Read(b, func(err error) { t.Error(err) })
			h := b.History()
			for _, r := range h.Groups[0].Rounds {
				for i := range r.Messages {
					r.Messages[i].Delivery = ""
				}
				r.Unknown = nil
			}
			text, err := json.MarshalIndent(h, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, string(text))
		}
		if told[0] != told[1] {
			t.Errorf("%s: of %d lines:\n%s", name, strings.Count(told[0], "\n"), differences(told[1], told[0]))
		}
	}
}

// A page draws the newest rounds. It is the same where no others were held, nor what was before them.
func TestPageTellsTheSame(t *testing.T) {
	for _, name := range []string{"bully-kill-info", "bully-rolling", "office-kill", "office-ring-kill", "shop-info"} {
		files, _ := logs.Files([]string{writeLong(t, name, 300)})
		var pages []string
		for _, newest := range []int{render.MaxPictured, 0} {
			b := rounds.NewBoundedBuilder(rounds.Bounds{
				Records: 1500, Newest: newest, Whole: true, Steps: func(uint64) bool { return true },
			})
			batch := logs.Batch{Paths: files}
			batch.Read(b, func(err error) { t.Error(err) })
			var page strings.Builder
			if err := render.HTML(&page, b.History()); err != nil {
				t.Fatal(err)
			}
			pages = append(pages, page.String())
		}
		if !strings.Contains(pages[0], "older rounds are left out") {
			t.Error(name, "has not enough rounds")
		}
		if pages[0] != pages[1] {
			t.Errorf("%s:\n%.2000s", name, differences(pages[0], pages[1]))
		}
	}
}

// why-not holds only what it wants, and tells the same as with all records: of each node, also if its log is missing.
func TestWhyNotTellsTheSame(t *testing.T) {
	for _, name := range []string{
		"bully-kill-info", "bully-rolling", "office-kill", "office-no-quorum", "office-ring-kill", "office-two-lists",
	} {
		files, _ := logs.Files([]string{writeLong(t, name, 40)})
		for i := range files {
			for _, paths := range [][]string{files, slices.Concat(files[:i], files[i+1:])} {
				full, id := rounds.NewBuilder(), uint64(i+1)
				bounded := rounds.NewBoundedBuilder(rounds.Bounds{
					Records: 1500, Steps: func(uint64) bool { return true }, Retain: report.Lately, About: id,
				})
				var told []string
				for _, b := range []*rounds.Builder{full, bounded} {
					batch := logs.Batch{Paths: paths}
					batch.Read(b, func(err error) { t.Error(err) })
					var out bytes.Buffer
					if err := report.WhyNot(&out, b.History().Groups[0], id); err != nil {
						t.Fatal(err)
					}
					told = append(told, out.String())
				}
				if told[0] != told[1] {
					t.Errorf("%s, node %d, %d logs:\n%s", name, id, len(paths), differences(told[1], told[0]))
				}
			}
		}
	}
}

// "Logs that are not in order": of a file that has the logs of one node behind those of another, a Batch reads each
// node's part by itself.
func TestBatchSplitsFiles(t *testing.T) {
	dir := writeLong(t, "office-kill", 60)
	files, _ := logs.Files([]string{dir})
	one := filepath.Join(t.TempDir(), "all.log")
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	if err := os.WriteFile(one, all, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(batch *logs.Batch) (late int, list string) {
		which := report.Selection{}
		b := rounds.NewBoundedBuilder(rounds.Bounds{Records: 1500, Retain: which.Retain})
		batch.Read(b, func(err error) { t.Error(err) })
		return b.Late(), listed(t, b.History())
	}
	_, want := read(&logs.Batch{Paths: files})
	batch := logs.Batch{Paths: []string{one}}
	if late, _ := read(&batch); late == 0 {
		t.Error("no record came late, although the file is not in order")
	}
	if !batch.Split() {
		t.Fatal("the file has one node only")
	}
	if late, got := read(&batch); late != 0 || got != want {
		t.Errorf("%d records came late:\n%s", late, differences(got, want))
	}
}

// "One record of 200,000 ids does not stall it": here four records have them.
func TestManyNodes(t *testing.T) {
	const nodes = 200_000
	alive := make([]uint64, nodes)
	for i := range alive {
		alive[i] = uint64(i + 1)
	}
	from := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b := rounds.NewBriefBuilder()
	seq := map[uint64]uint64{}
	add := func(node uint64, rec trace.Record) {
		seq[node]++
		rec.Level, rec.Cluster, rec.Algo, rec.Guarantee = "debug", "many", "bully", "best-effort"
		rec.Node, rec.Seq, rec.Incarnation = node, seq[node], "aa"
		rec.Time = from.Add(time.Duration(seq[node]) * 10 * time.Millisecond)
		b.Add(&rec)
	}
	for _, id := range []uint64{1, 2} {
		add(id, trace.Record{Event: "start", Role: trace.Looking})
		add(id, trace.Record{Event: "peers", Alive: alive, Evidence: "joined", Role: trace.Looking})
	}
	nobody := uint64(0)
	add(2, trace.Record{
		Event: "timeout", Term: 1, Why: []string{"no higher node is alive -> lead"}, Role: trace.Leading, Leader: 2,
		LeaderChange: trace.Elected, PrevLeader: &nobody,
	})
	for _, view := range [][]uint64{{1, 2}, alive} {
		add(1, trace.Record{Event: "peers", Term: 1, Alive: view, Role: trace.Following, Leader: 2})
	}
	if list := listed(t, b.History()); !strings.Contains(list, "The logs of 199998 nodes are not here, the first") {
		t.Error(list[:min(len(list), 2000)])
	}
}

// BenchmarkBatch is the way of "ringleader rounds" from the files of a long log to its list, with the memory bounded.
// The promise is 100 MB/s on one core: run it with -cpu 1. On a machine that has else to do, cpu-MB/s counts: the
// process's own time, in it and in the kernel. live-MB is what is held at the end.
func BenchmarkBatch(b *testing.B) {
	for _, name := range []string{
		"bully-kill", "bully-kill-info", "ring-restart", "office-kill", "office-ring-kill", "shop-info",
	} {
		b.Run(name, func(b *testing.B) {
			files, _ := logs.Files([]string{writeLong(b, name, 6000)})
			var bytes int64
			began := cpuTime(b)
			for b.Loop() {
				which := report.Selection{Last: 40}
				builder := rounds.NewBoundedBuilder(rounds.Bounds{Records: 3 << 9, Retain: which.Retain})
				batch := logs.Batch{Paths: files}
				bytes += batch.Read(builder, func(err error) { b.Error(err) }).Bytes
				live := heap()
				if builder.Eras() != nil {
					b.Fatal("the log is of one cluster, and not of several")
				}
				if n := len(builder.History().Groups); n != 1 {
					b.Fatal(n)
				}
				b.ReportMetric(float64(live)/1e6, "live-MB")
			}
			b.SetBytes(bytes / int64(b.N))
			b.ReportMetric(float64(bytes)/1e6/(cpuTime(b)-began).Seconds(), "cpu-MB/s")
		})
	}
}

// writeLong writes a file for each node of a fixture: what happens in it happens many times.
func writeLong(t testing.TB, name string, times int) (dir string) {
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
