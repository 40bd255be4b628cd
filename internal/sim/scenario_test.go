package sim

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ringleader-dev/ringleader/internal/scenario"
)

// Golden scenarios: each file of testdata is a script and the trace that it gives.
// `go test ./internal/sim -run Scenarios -rewrite` writes the traces anew; they are to
// be read then.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, err := scenario.Parse(path, string(text))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		p, steps := player(t), script.Steps
		p.Out = &out
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out.Reset()
			for _, cmd := range steps[0].Commands {
				if err := p.Do(cmd); err != nil {
					d.Fatalf(t, "%v", err)
				}
			}
			steps = steps[1:]
			return out.String()
		})
		if err := p.End(); err != nil {
			t.Error(err)
		}
	})
}

// player plays the algorithms of the catalogue.
func player(t *testing.T) *Player {
	t.Helper()
	return &Player{Out: &strings.Builder{}, Lookup: func(s Shape) (Algorithm, error) {
		switch {
		case s.Leased:
			return leased(t, s.Algorithm), nil
		case s.Recovers:
			return recovery(t, s.Algorithm), nil
		}
		return algorithmOf(t, s.Algorithm), nil
	}}
}
