package compare

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
)

var update = flag.Bool("update", false, "write the golden files anew")

var somewhere = bench.Machine{
	Date: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Cores: 2, MemoryMiB: 4096,
	Platform: "linux/amd64", Go: "go1.26.8", Load: 0.25,
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as it was (-update writes it anew):\n%s", file, got)
	}
}

// sheet is the style sheet of a page.
var sheet = regexp.MustCompile(`(?s)<style>.+</style>`)

// unstyled is a page without its style sheet, which is a file of ours as it stands.
func unstyled(t *testing.T, page []byte) []byte {
	t.Helper()
	if len(sheet.FindAll(page, -1)) != 1 {
		t.Error("there is not one style sheet in the page")
	}
	return sheet.ReplaceAll(page, nil)
}

func refusals(n int) *int { return &n }

// report has something of everything: figures, what was left out, failed, not done.
func report() Report {
	return Report{
		Machine: somewhere, Nodes: 3, Profile: "lan", Seed: 7, Script: []Step{Kill, KillTwo}, Partial: true,
		Rows: []Row{
			{
				Algorithm: "bully", Votes: Nobody, Guarantee: algorithms.BestEffort, Samples: []Sample{
					{
						Step: Kill, Done: true, Detect: 1.5, Elect: 0.25, Announce: 0.5, Nobody: 1.75, Two: 0.125,
						Terms: 1, Messages: 8, Bytes: 450,
					},
					{
						Step: KillTwo, Done: true, Detect: 2, Elect: 0.5, Announce: 0.25, Nobody: 2.5,
						Terms: 1, Messages: 5, Bytes: 250,
					},
				},
			},
			{
				Algorithm: "bully", Votes: All, Guarantee: algorithms.Lease, Samples: []Sample{
					{
						Step: Kill, Done: true, Detect: 1.5, Elect: 1234.5, Announce: 0.5, Nobody: 1236, Terms: 2,
						Messages: 28, Bytes: 1800, Refused: refusals(1),
					},
					{Step: KillTwo, LeftOut: "1 of 3 voters left, 2 needed"},
				},
			},
			{
				Algorithm: "<raft>", Votes: Own, Guarantee: algorithms.Lease, Samples: []Sample{
					{Step: Kill, Done: true, Failed: "nobody took over: <b>too slow</b>"},
					{Step: KillTwo},
				},
			},
		},
	}
}

// Promise: a partial table is "marked so"; what was left out or failed says why.
func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := report().Report().Text(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", out.Bytes())
}

// Promise: "one self-contained HTML with plots, light and dark, nothing fetched"; what
// is printed is not taken for markup.
func TestHTML(t *testing.T) {
	var out bytes.Buffer
	if err := report().Report().HTML(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", unstyled(t, out.Bytes()))
	selfContained(t, out.String())
}

// fetches are what makes a browser load something else.
var fetches = regexp.MustCompile(`(?i)<(script|link|img|iframe|object|embed|base)\b|@import|url\(|\bsrc=|\bhref=`)

func selfContained(t *testing.T, page string) {
	t.Helper()
	if found := fetches.FindString(page); found != "" {
		t.Errorf("the page fetches: %s", found)
	}
	for _, want := range []string{"prefers-color-scheme: dark", "<svg", `lang="en"`, `class="partial"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "<raft>", "<b>", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(report())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"partial":true`, `"votes":"all"`, `"stale_refused":1`, `"two_leaders_ms":0.125`, `"bytes":450`,
		`"left_out":"1 of 3 voters left, 2 needed"`, `"seed":7`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// A storage that took a stale write is shown wherever its refusals are.
func TestAccepted(t *testing.T) {
	r := report()
	r.Rows[1].Samples[0].Accepted = 2
	var out bytes.Buffer
	if err := r.Report().Text(&out); err != nil || r.Accepted() != 2 || !strings.Contains(out.String(), "1, 2 TAKEN") {
		t.Errorf("%d accepted, %v\n%s", r.Accepted(), err, out.String())
	}
}
