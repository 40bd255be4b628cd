package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// A sentence that is quoted for a reason is shown to nobody unless an algorithm gives
// that reason, to the letter: some golden scenario of it does, or some fault schedule.
func TestQuotedRulesAreFollowed(t *testing.T) {
	numbers := regexp.MustCompile(`\d+`)
	for _, e := range catalog.All() {
		files, err := filepath.Glob(filepath.Join("testdata", e.Name, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no scenarios: %v", e.Name, err)
		}
		given := map[string]bool{}
		read := func(text string) {
			for line := range strings.Lines(text) {
				why := numbers.ReplaceAllString(strings.TrimSpace(line), "#")
				cause, _, _ := strings.Cut(why, " -> ")
				given[why], given[cause] = true, true
			}
		}
		missing := func(r algorithms.Rule) bool { return !given[r.Why] }
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read(string(text))
		}
		for seed := uint64(1); seed < 200 && slices.ContainsFunc(e.Rules, missing); seed++ {
			var trace strings.Builder
			mustRun(t, Options{Algorithm: entered(e), Seed: seed, Trace: &trace})
			read(trace.String())
		}
		for _, rule := range e.Rules {
			if missing(rule) {
				t.Errorf("%s: nothing gives the reason %q", e.Name, rule.Why)
			}
		}
	}
}
