package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// A sentence that is quoted for a reason is shown to nobody unless an algorithm gives
// that reason, to the letter: some golden scenario of it does.
func TestQuotedRulesAreFollowed(t *testing.T) {
	numbers := regexp.MustCompile(`\d+`)
	for _, e := range catalog.All() {
		files, err := filepath.Glob(filepath.Join("testdata", e.Name, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no scenarios: %v", e.Name, err)
		}
		given := map[string]bool{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				why := numbers.ReplaceAllString(strings.TrimSpace(line), "#")
				cause, _, _ := strings.Cut(why, " -> ")
				given[why], given[cause] = true, true
			}
		}
		for _, rule := range e.Rules {
			if !given[rule.Why] {
				t.Errorf("%s: no scenario gives the reason %q", e.Name, rule.Why)
			}
		}
	}
}
