package sim

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// A sentence that is quoted for a reason is shown to nobody unless an algorithm gives
// that reason: some golden scenario, fault schedule or test of a single Step does. And
// whatever is given is declared. What leases and Raft give has no code yet.
func TestQuotedRulesAreFollowed(t *testing.T) {
	given := givenInSteps(t)
	missing := func() (codes []string) {
		for _, k := range catalog.Reasons() {
			of, _, _ := strings.Cut(k.Code, ".")
			if k.Rule != "" && !given[k.Code] && of != "lease" && of != "raft" {
				codes = append(codes, k.Code)
			}
		}
		return codes
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		givenIn(t, replay(t, path), given)
	}
	for seed := uint64(1); seed < 100 && len(missing()) > 0; seed++ {
		for _, e := range catalog.All() {
			var out bytes.Buffer
			mustRun(t, Options{Algorithm: entered(e), Seed: seed, Trace: &out, TraceJSON: true, TraceAll: true})
			givenIn(t, out.String(), given)
		}
	}
	for _, code := range missing() {
		t.Errorf("nothing gives %s", code)
	}
	for code := range given {
		if catalog.Reason(code) == nil {
			t.Errorf("%s is not declared", code)
		}
	}
}

// givenInSteps are the codes that tests of single Steps ask for.
func givenInSteps(t *testing.T) map[string]bool {
	paths, err := filepath.Glob(filepath.Join("..", "..", "algorithms", "*", "*_test.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	given, code := map[string]bool{}, regexp.MustCompile("[\"`(]([a-z]+\\.[a-z-]+)[\"`(,)]")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			if catalog.Reason(m[1]) != nil {
				given[m[1]] = true
			}
		}
	}
	return given
}

// replay is the trace of a golden scenario as JSON.
func replay(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	script, err := scenario.Parse(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := player(t)
	p.Out, p.JSON = &out, true
	for _, step := range script.Steps {
		for _, cmd := range step.Commands {
			if err := p.Do(cmd); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.String()
}

// givenIn adds the codes of a trace.
func givenIn(t *testing.T, records string, given map[string]bool) {
	var add func(r trace.Reason)
	add = func(r trace.Reason) {
		if r.Code != "" {
			given[r.Code] = true
		}
		for _, a := range r.Args {
			if a.Is == trace.Cause {
				add(*a.Reason)
			}
		}
	}
	for line := range strings.Lines(records) {
		var rec trace.Record
		if !strings.HasPrefix(line, "{") {
			continue // what a scenario sums up
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		for i, r := range rec.Reasons {
			add(r)
			if strings.Contains(rec.Why[i], "%!") {
				t.Errorf("%s does not fit its arguments: %s", r.Code, rec.Why[i])
			}
		}
	}
}
