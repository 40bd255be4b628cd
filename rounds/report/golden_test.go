package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

var rewrite = flag.Bool("rewrite", false, "write what is told anew; it is to be read then")

// What is told of real clusters' logs: rounds/testdata/*.txt beside the *.log.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal("no logs", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := told(t, read(t, file))
			golden := strings.TrimSuffix(file, ".log") + ".txt"
			if *rewrite {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("told\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func read(t *testing.T, file string) *rounds.History {
	b := rounds.NewBuilder()
	batch := logs.Batch{Paths: []string{file}}
	batch.Read(b, func(err error) { t.Fatal(err) })
	return b.History()
}

func told(t *testing.T, h *rounds.History) []byte {
	var out bytes.Buffer
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range h.Groups {
		must(report.Header(&out, g.Cluster, g.Algorithm, g.Guarantee, g.Run))
		for _, r := range g.Rounds {
			must(report.Line(&out, g.Names, r))
		}
		must(report.Remarks(&out, g))
		for _, r := range g.Rounds {
			out.WriteString("\n" + strings.Repeat("=", 80) + "\n\n")
			must(report.Show(&out, g, r, true))
			out.WriteString("\n")
			must(report.Explain(&out, g, r, true))
		}
	}
	return out.Bytes()
}
