package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// collector is a Sink that keeps everything.
type collector struct {
	records []trace.Record
	texts   int
	deaths  []uint64
	left    []string
}

func (c *collector) Add(rec *trace.Record) {
	if rec.FromText {
		c.texts++
	}
	c.records = append(c.records, *rec)
}

func (c *collector) Left(last trace.Farewell) {
	c.left = append(c.left, fmt.Sprintf("%s %d %s", last.Cluster, last.Node, last.Time.Format(time.TimeOnly)))
}

func (c *collector) Death(_ string, node uint64, _ time.Time) { c.deaths = append(c.deaths, node) }

func readAll(t *testing.T, log string) *collector {
	t.Helper()
	c := &collector{}
	if _, err := Read(strings.NewReader(log), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// realRecords are lines of a real cluster.
func realRecords(t *testing.T) []string {
	data, err := os.ReadFile("../testdata/bully-kill.log")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// "All 5 nodes run, as far as the records tell", although each said that it left.
func TestLastWords(t *testing.T) {
	plain := `{"level":"info","cluster":"c","node":5,"time":"2026-11-22T11:57:42.6Z",` +
		`"message":"the node resigned and left"}`
	quoted := strings.ReplaceAll(plain, `"`, `\"`)
	for _, line := range []string{
		plain,
		"node-5-1  | " + plain,
		"2026-11-22T11:57:42.7Z stderr F " + plain,
		`{"log":"` + quoted + `\n","stream":"stderr","time":"2026-11-22T11:57:42.7Z"}`,
		strings.Replace(plain, "the node resigned and left", "the node ended", 1),
	} {
		if left := readAll(t, line+"\n").left; len(left) != 1 || left[0] != "c 5 11:57:42" {
			t.Errorf("%q of %s", left, line)
		}
	}
	other := strings.Replace(plain, "the node resigned and left", "did the node resigned and left say so?", 1)
	if left := readAll(t, other+"\n").left; len(left) > 0 {
		t.Errorf("%q of %s", left, other)
	}
}

// "A truncated record in the middle: is it silent?" Lines that look like records and are none are counted, and nothing
// else that nodes write.
func TestBrokenRecords(t *testing.T) {
	lines := slices.DeleteFunc(realRecords(t), func(line string) bool { return !strings.Contains(line, `"event"`) })
	half, tail := lines[3][:len(lines[3])/2], lines[4][len(lines[4])/3:]
	quoted := `{"log":` + strconv.Quote(lines[6][:300])
	log := strings.Join([]string{
		lines[0], half, lines[1], tail, lines[2], "node-1  | " + half, quoted,
		`{"level":"info","cluster":"c","node":5,"incarnation":"aa","algorithm":"bully","message":"node 5 is up"}`,
		`{"algo":"sha256","size":4}`, `time=1 msg="node 3 has an algo"`,
	}, "\n")
	stats, err := Read(strings.NewReader(log), &collector{})
	if err != nil || stats.Records != 3 || stats.Broken != 4 || stats.FirstBroken != "line 2" {
		t.Errorf("%+v, %v", stats, err)
	}
	stats.Of("n5.log")
	want := "4 lines look like records, but cut off or damaged, and not read: the first is line 2 of n5.log."
	if want != stats.Remark() {
		t.Errorf("%s", stats.Remark())
	}
}

// "in whatever shape people have them": each shape of the same lines gives the
// same records as the lines by themselves.
func TestShapes(t *testing.T) {
	lines := realRecords(t)
	want := readAll(t, strings.Join(lines, "\n")).records
	if len(want) < 40 {
		t.Fatalf("%d records in the plain log", len(want))
	}
	shapes := map[string]func(i int, line string) string{
		"windows line ends": func(_ int, s string) string { return s + "\r" },
		"docker-compose":    func(i int, s string) string { return fmt.Sprintf("n%d_1  | %s", i%5+1, s) },
		"docker compose":    func(i int, s string) string { return fmt.Sprintf("n%d-1  | %s", i%5+1, s) },
		"compose in colours": func(i int, s string) string {
			return fmt.Sprintf("\x1b[36mn%d_1  |\x1b[0m %s\x1b[0m", i%5+1, s)
		},
		"compose with times": func(i int, s string) string { return "n1-1  | 2026-11-20T15:04:05.123456789Z " + s },
		"docker logs -t":     func(_ int, s string) string { return "2026-11-20T15:04:05.123456789Z " + s },
		"journald":           func(_ int, s string) string { return "Nov 20 15:04:05 host ringleader[4711]: " + s },
		"journald as JSON": func(_ int, s string) string {
			return fmt.Sprintf(`{"_HOSTNAME":"h","MESSAGE":%q,"PRIORITY":"6"}`, s)
		},
		"docker's own files": func(_ int, s string) string {
			return fmt.Sprintf(`{"log":%q,"stream":"stderr","time":"2026-11-20T15:04:05.123456789Z"}`, s+"\n")
		},
		"a string in docker's own files": func(_ int, s string) string {
			return fmt.Sprintf(`{"log":%q,"stream":"stderr"}`, fmt.Sprintf("n1 | {\"msg\":%q}\n", s))
		},
		"logfmt": func(_ int, s string) string {
			return fmt.Sprintf(`ts=2026-11-20T15:04:05.1Z level=info caller=main.go:7 msg=%q pod="a b"`, s)
		},
		"logfmt in a string": func(_ int, s string) string {
			return fmt.Sprintf(`{"line":%q,"labels":{}}`, fmt.Sprintf(`level=info {} msg=%q`, s))
		},
		"logfmt behind JSON": func(_ int, s string) string { return fmt.Sprintf(`a="{\"b\":1}" msg=%q`, s) },
		"a byte order mark":  func(_ int, s string) string { return "\ufeff" + s },
		"kubernetes":         func(_ int, s string) string { return "2026-11-20T15:04:05.1+01:00 stderr F " + s },
		"kubectl --prefix":   func(i int, s string) string { return fmt.Sprintf("[pod/n-%d/ringleader] %s", i%5, s) },
		"with foreign lines": func(i int, s string) string { return "panic: not a record {\n" + s + "\n{\"event\":1}" },
		"braces before":      func(_ int, s string) string { return "{svc=\"a\"} " + s },
		"cut into parts": func(_ int, s string) string {
			return "2026-11-20T15:04:05.1Z stderr P " + s[:50] + "\n2026-11-20T15:04:05.1Z stderr F " + s[50:]
		},
	}
	for name, shape := range shapes {
		var b strings.Builder
		b.WriteString(lines[0][len(lines[0])/2:] + "\n") // the first line is cut off
		for i, line := range lines {
			b.WriteString(shape(i, line) + "\n")
		}
		b.WriteString(lines[len(lines)-1][:40]) // so is the last
		got := readAll(t, b.String()).records
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d records, want %d", name, len(got), len(want))
		}
	}
}

// What nodes write is read the fast way, or the promise of speed is not kept; and
// it is read as encoding/json reads it.
func TestNodesWriteTheFastShape(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := newScanner()
		for line := range bytes.Lines(log) {
			line = bytes.TrimSpace(line)
			var rec trace.Record
			if !bytes.Contains(line, recordMark) {
				continue
			}
			if !s.record(line, &rec) {
				t.Errorf("%s: read the slow way: %s", file, line)
				continue
			}
			var want trace.Record
			if err := json.Unmarshal(trace.Renamed(line), &want); err != nil || !reflect.DeepEqual(rec, want) {
				t.Errorf("%s: %v\nread %+v\nwant %+v", file, err, rec, want)
			}
		}
	}
}

// The same, for each field that a record may have.
func TestEachFieldIsReadTheFastWay(t *testing.T) {
	was := uint64(2)
	want := trace.Record{
		Level: "info", Time: time.Unix(1, 2).UTC(), ClockSet: -3, Cluster: "demo", Node: 1, Incarnation: "ab",
		Algo: "bully", Seq: 2, HLC: "3.0", Term: 4, Round: 5, Event: "receive", From: 5, Msg: "OK", MsgID: "5:1",
		Sender: "cd", Detail: "OK",
		Alive: []uint64{1, 5}, Evidence: "joined 5", Ranks: []string{"5:-7"}, About: 5, Unfit: "paused",
		Why: []string{"a -> b"},
		Reasons: []trace.Reason{
			{Code: "a.b", Args: []trace.Arg{
				{Is: trace.Cause, Reason: &trace.Reason{Code: "c.d", Args: []trace.Arg{{Number: 5}}}},
				{Number: 7},
				{Is: trace.Words, Words: "two trips"},
			}},
			{Code: "e.f"},
		},
		Sent:      []string{"OK>5#1:1"},
		SentBytes: 60, Store: "etcd", Asked: "look", Security: trace.Unauthenticated,
		Ineligible: "not ready", Role: "leader", Leader: 1, Led: 6, Guarantee: "lease", Token: 6,
		ValidUntil: time.Unix(7, 0).UTC(), PrevLeader: &was, LeaderChange: "elected",
		Splits: []trace.Split{{
			By: 1, Stage: "recovered", OverlapMS: 1.5,
			Leaders:   []trace.Leadership{{Leader: 1, Term: 2, Incarnation: "ab"}},
			Reconcile: &trace.Reconcile{Tries: 1, Problem: "a \"word\""},
		}},
	}
	fields := reflect.ValueOf(want)
	for i := range fields.NumField() {
		field := fields.Type().Field(i)
		if field.Tag.Get("json") == "-" {
			continue // no line has it
		}
		if fields.Field(i).IsZero() {
			t.Errorf("%s is not tried", field.Name)
		}
	}
	var written bytes.Buffer
	as := json.NewEncoder(&written)
	as.SetEscapeHTML(false) // nor do nodes
	if err := as.Encode(want); err != nil {
		t.Fatal(err)
	}
	line := bytes.TrimSpace(written.Bytes())
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, line, "", " "); err != nil {
		t.Fatal(err)
	}
	newer := bytes.ReplaceAll(line, []byte(`"role":`), []byte(`"a_newer_field":{"node":[9,"\n",null]},"role":`))
	for _, line := range [][]byte{line, spaced.Bytes(), newer} {
		var got trace.Record
		if !newScanner().record(line, &got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read %+v", line, got)
		}
	}
}

// A list of 200,000 ids is read in a few allocations that double, and its memory is not kept for the lists to
// come. Lists of hundreds do not gather either.
func TestLongLists(t *testing.T) {
	for _, length := range []int{200, 200_000} {
		line := []byte(`{"node":1,"seq":1,"event":"peers","alive":[` + strings.Repeat("1234567,", length-1) + `7]}`)
		s := newScanner()
		var rec trace.Record
		const times = 100
		allocs := testing.AllocsPerRun(times, func() {
			if !s.record(line, &rec) || len(rec.Alive) != length || rec.Alive[length-1] != 7 {
				t.Fatal(len(rec.Alive), rec)
			}
		})
		if allocs > 20 || cap(s.ids.all) > 2*roomAtOnce {
			t.Errorf("%d ids: %v allocations a record, and room for %d", length, allocs, cap(s.ids.all))
		}
	}
}

// An algorithm that has words of its own is told by them, whichever comes first.
func TestTellsTheAlgorithmFromText(t *testing.T) {
	for _, want := range []string{"franklin", "hs", "invitation", "ring", "stoller"} {
		files, err := filepath.Glob("../../internal/sim/testdata/" + want + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no scenarios: %v", want, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range readAll(t, string(text)).records {
				if rec.Algo != want {
					t.Errorf("%s: taken for %q", file, rec.Algo)
					break
				}
			}
		}
	}
}

// A Sink that wants to know until when a log goes on gets the last line of each node, "as if nobody had set the clock
// since the process began".
func TestLastLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "n1.log")
	text := `{"level":"warn","cluster":"c","node":1,"time":"2026-11-25T09:25:01.5Z","message":"no link to node 2"}
{"level":"warn","cluster":"c","node":1,"time":"2026-11-25T10:25:02.5Z","clock_set_ns":3600000000000,"message":"up"}
{"level":"warn","time":"2026-11-25T09:25:03.5Z","message":"of no node"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got lines
	batch := Batch{Paths: []string{path}}
	batch.Read(&got, func(err error) { t.Error(err) })
	want := time.Date(2026, time.November, 25, 9, 25, 2, 500e6, time.UTC)
	if len(got.at) != 1 || !got.at[0].Equal(want) {
		t.Errorf("got %v, want %v", got.at, want)
	}
}

// What stands before a line of a node, or has it as a string, hides no time of it. What it quotes is not its own.
func TestLastLinesBehindPrefixes(t *testing.T) {
	const line = `{"level":"warn","cluster":"c","node":1,"time":"2026-11-25T09:25:02.5Z","message":"no link: ` +
		`{\"level\":\"info\",\"node\":1,\"time\":\"2026-11-25T09:25:09Z\"}"}`
	quoted := strconv.Quote(line)
	for name, text := range map[string]string{
		"plain":           line,
		"docker-compose":  "node1-1  | " + line,
		"journald":        "Nov 25 09:25:02 host ringleader[7]: " + line,
		"Kubernetes":      "2026-11-25T09:25:02.6Z stderr F " + line,
		"docker":          `{"log":` + strconv.Quote(line+"\n") + `,"stream":"stderr","time":"2026-11-25T09:25:02.6Z"}`,
		"journald JSON":   `{"PRIORITY":"6","MESSAGE":` + quoted + `}`,
		"logfmt":          `time=2026-11-25T09:25:02.6Z msg=` + quoted,
		"cut off":         `node1-1  | {"level":"warn","node":1,"time":"2026-11-25T09:25:02.5Z"`,
		"cut off, docker": `{"log":"{\"level\":\"warn\",\"node\":1,`,
	} {
		var got lines
		if _, err := Read(strings.NewReader(text+"\n"), &got); err != nil {
			t.Fatal(err)
		}
		want := time.Date(2026, time.November, 25, 9, 25, 2, 500e6, time.UTC)
		if cut := strings.HasPrefix(name, "cut off"); cut != (len(got.at) == 0) || !cut && !got.at[0].Equal(want) {
			t.Errorf("%s: got %v, want %v", name, got.at, want)
		}
	}
}

// lines is a LineSink.
type lines struct {
	collector
	at []time.Time
}

func (l *lines) Line(_ string, _ uint64, at time.Time) { l.at = append(l.at, at) }

// The line by which a process says that it is up goes to who wants to know of that, and knows how far its clock was set
// before: as any line, it would count by the clock of the process before it.
func TestALineThatAProcessIsUpIsNoOtherLine(t *testing.T) {
	const up = `{"level":"info","cluster":"c","node":3,"incarnation":"0a0b0c0d","time":"2026-11-25T09:25:02Z",` +
		`"message":"node 3 is up"}` + "\n"
	var plain lines
	both := ups{lines: &lines{}}
	for _, to := range []Sink{&plain, &both} {
		if _, err := Read(strings.NewReader(up), to); err != nil {
			t.Fatal(err)
		}
	}
	if len(plain.at) != 1 || len(both.at) != 0 || both.up != 1 {
		t.Errorf("%d lines; %d lines and %d that are up", len(plain.at), len(both.at), both.up)
	}
}

// ups is an UpSink.
type ups struct {
	*lines
	up int
}

func (u *ups) Up(trace.Greeting) { u.up++ }
