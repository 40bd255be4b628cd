package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

var somewhere = Machine{
	Date: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Cores: 2, MemoryMiB: 4096,
	Platform: "linux/amd64", Go: "go1.26.8", Load: 0.25,
}

// failovers is a report of two samples out of three that were asked for.
func failovers() FailoverReport {
	r := FailoverReport{
		Machine: somewhere, Algorithm: "ring", Nodes: 5, Kills: 3, Signal: Kill, Profile: "lan",
		Samples: []failoverSample{
			{
				Detect: 1, Elect: 0.25, Announce: 0.5, Total: 1.75, Gap: 1.25,
				Messages: 8, Terms: 1, Floor: &floor{First: 0.5, All: 1, Hop: 0.05},
			},
			{
				Detect: 2, Elect: 250.5, Announce: 0.5, Total: 1253, Gap: 252.5,
				Messages: 11, Terms: 2, Floor: &floor{First: 0.75, All: 2, Hop: 0.05},
			},
		},
	}
	r.summarize()
	return r
}

// Promise: with votes the aim is "4 × floor + 2 fsyncs", of the same run.
func TestFailoverTextWithVoters(t *testing.T) {
	r := failovers()
	r.Voters, r.Within = true, 0
	for i := range r.Samples {
		r.Samples[i].Fsync = 0.25
	}
	r.summarize()
	var out strings.Builder
	if err := r.Report().Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"failover: ring and the votes of all 5, 5 nodes,",
		"total: it leads, and all know it            1.75      1253      1253\n",
		"one fsync                                   0.25      0.25      0.25\n",
		"the aim: 4 × floor + 2 fsyncs               4.50      8.50      8.50\n  1 of 2 are within it",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// Promise: p50, p95 and max of detect, elect and announce and the floor, as a
// table; a run that was cut short is "marked as such".
func TestFailoverText(t *testing.T) {
	const want = `failover: ring, 5 nodes, profile lan, SIGKILL to the leader, 2 times
2 cores, 4096 MiB, linux/amd64, go1.26.8, load 0.25 at the start, 2026-11-20T15:00:00Z
PARTIAL: ended after 2 of 3

milliseconds                                   p50       p95       max
  detect: signal to first evidence               1         2         2
  elect: to the winner's belief               0.25     250.5     250.5
  announce: to the last one's belief          0.50      0.50      0.50
  total                                       1.75      1253      1253

the floor: bare processes, no safety           p50       p95       max
  detect: end of stream at the first          0.50      0.75      0.75
  total: one message, all know                   1         2         2
  times the floor, pair by pair               1.75     626.5     626.5
  the aim: 2 × floor + 15 bare hops           2.75      4.75      4.75
  1 of 2 are within it

  messages in the round                          8        11        11
1 of 2 took more than one term
`
	var out bytes.Buffer
	if err := failovers().Report().Text(&out); err != nil || out.String() != want {
		t.Errorf("%v, printed\n%s\nwant\n%s", err, out.String(), want)
	}
}

// Promise: "`bench failover` for every algorithm beside the floor": a line each, those
// that were not reached marked.
func TestFailoverTable(t *testing.T) {
	voted, none := failovers(), FailoverReport{Algorithm: "hs", Nodes: 5, Kills: 3}
	voted.Algorithm, voted.Voters = "bully", true
	voted.Samples = append(voted.Samples, voted.Samples[0])
	voted.summarize()
	table := FailoverTable{Machine: somewhere, Rows: []FailoverReport{failovers(), voted, none}}
	const want = `failover: 5 nodes, profile lan, SIGKILL to the leader, 3 times each
2 cores, 4096 MiB, linux/amd64, go1.26.8, load 0.25 at the start, 2026-11-20T15:00:00Z
PARTIAL: ended after 5 of 9

ms, p50        votes   detect    elect announce    total      p95      max    floor  x floor   msgs
  ring         none         1     0.25     0.50     1.75     1253     1253        1     1.75      8
  bully        all          1     0.25     0.50     1.75     1253     1253        1     1.75      8
  hs           not measured

floor: bare processes without safety, killed in the same minute; x floor: total, pair by pair
`
	var out bytes.Buffer
	if err := table.Report().Text(&out); err != nil || out.String() != want {
		t.Errorf("%v, printed\n%s\nwant\n%s", err, out.String(), want)
	}
	out.Reset()
	if err := table.Report().HTML(&out); err != nil || strings.Contains(out.String(), "NaN") ||
		strings.Count(out.String(), `<path class="c`) != 5+5 ||
		!strings.Contains(out.String(), "PARTIAL: ended after 5 of 9") {
		t.Errorf("%v, drew\n%s", err, out.String())
	}
}

// Promise: the gap in which nobody leads is measured for a handover.
func TestHandoverText(t *testing.T) {
	r := FailoverReport{
		Machine: somewhere, Signal: Term, Kills: 1, Samples: []failoverSample{{Gap: 0.25, Terms: 1}},
	}
	r.summarize()
	var out bytes.Buffer
	if err := r.Report().Text(&out); err != nil || !strings.Contains(out.String(), "gap: nobody leads") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Promise: "with docker kill, counted from the death of the process"; Docker's
// part is a row of its own, and the floor says that it has no containers.
func TestDockerText(t *testing.T) {
	r := FailoverReport{
		Machine: somewhere, Algorithm: "bully", Nodes: 5, Kills: 2, Signal: Docker, Profile: "lan",
		Samples: failovers().Samples,
	}
	r.Samples[0].DockerKill, r.Samples[0].FromCall = 40, 41.75
	r.Samples[1].DockerKill, r.Samples[1].FromCall = 50, 1302.5
	r.Samples[0].Detect, r.Samples[0].Total = -0.25, 0.75
	r.summarize()
	const want = `failover: bully, 5 nodes, profile lan, docker kill of the leader, 2 times
2 cores, 4096 MiB, linux/amd64, go1.26.8, load 0.25 at the start, 2026-11-20T15:00:00Z

milliseconds                                   p50       p95       max
  docker kill: its call to the death            40        50        50
  detect: death to first evidence            -0.25         2         2
  elect: to the winner's belief               0.25     250.5     250.5
  announce: to the last one's belief          0.50      0.50      0.50
  total, from the death                       0.75      1253      1253
  all told, from the call                    41.75      1302      1302

the floor: no containers, no safety            p50       p95       max
  detect: end of stream at the first          0.50      0.75      0.75
  total: one message, all know                   1         2         2
  times the floor, pair by pair               0.75     626.5     626.5

  messages in the round                          8        11        11
1 of 2 took more than one term
`
	var out bytes.Buffer
	if err := r.Report().Text(&out); err != nil || out.String() != want {
		t.Errorf("%v, printed\n%s\nwant\n%s", err, out.String(), want)
	}
	out.Reset()
	if err := r.Report().HTML(&out); err != nil || strings.Contains(out.String(), "NaN") ||
		strings.Count(out.String(), `<path class="c`) != 6*len(r.Samples) {
		t.Errorf("%v, drew\n%s", err, out.String())
	}
}

// Promise: all tables are aligned at 80 to 100 columns.
func TestTextWidth(t *testing.T) {
	long := Summary{P50: 123456, P95: 1234567, Max: 12345678}
	for name, report := range map[string]interface{ Report() chart.Report }{
		"failover": failovers(),
		"hop":      HopReport{Machine: somewhere, Nodes: 100, Trips: 20, Election: long, Elected: long},
		"scale": ScaleReport{Machine: somewhere, Algorithm: "bully", Rows: []scaleSample{{
			Nodes: 100, ColdStart: 12345.6, Failover: Summary{P50: 12345.6, Max: 23456.7},
			Messages: long, TheoryBest: 98, TheoryWorst: 9899,
			ResidentMiB: Summary{P50: 23.4, Max: 123.4}, OwnMiB: Summary{P50: 4.1, Max: 12.3},
			CorePercent: Summary{P50: 10.5, Max: 99.99},
			Connections: Summary{Max: 9900}, Packets: 12345.6,
		}}},
		"alarms": AlarmsReport{Machine: somewhere, Algorithm: "bully", Nodes: 100, Seconds: 12345, Pauses: 99999},
	} {
		var out bytes.Buffer
		if err := report.Report().Text(&out); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > 100 {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
	}
}

func TestFailoverJSON(t *testing.T) {
	text, err := json.Marshal(failovers())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"machine", "detect_ms", "elect_ms", "announce_ms", "total_ms", "floor_all_ms", "ratio",
		"allowed_ms", "samples",
	} {
		if got[key] == nil {
			t.Errorf("no %s in %s", key, text)
		}
	}
}

// Promise: the page is "self-contained": well-formed, every sample in it,
// nothing fetched from elsewhere, both colour schemes.
func TestPage(t *testing.T) {
	r := failovers()
	r.Algorithm = "<ring> & co"
	var out bytes.Buffer
	if err := r.Report().HTML(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, `<path class="c`); n != 5*len(r.Samples) {
		t.Errorf("%d dots, want %d", n, 5*len(r.Samples))
	}
	for _, want := range []string{"prefers-color-scheme: dark", "&lt;ring&gt; &amp; co", "PARTIAL"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	elsewhere := strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, "")
	if strings.Contains(elsewhere, "http") || strings.Contains(text, "NaN") {
		t.Errorf("it names another place, or no number:\n%s", text)
	}
	svg := text[strings.Index(text, "<svg"):]
	svg = svg[:strings.Index(svg, "</svg>")+len("</svg>")]
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// With credentials and without: a line each, and how many times as long the median is.
func TestFailoverTextBesideNodesWithoutCredentials(t *testing.T) {
	secured, plain := failovers(), failovers()
	secured.Secured, plain.Against = true, withoutCredentials
	var out strings.Builder
	table := FailoverTable{Machine: somewhere, Rows: []FailoverReport{secured, plain}}
	if err := table.Report().Text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  against    none",
		"ring against nodes without credentials, medians: detect 1.00, elect 1.00, total 1.00",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
