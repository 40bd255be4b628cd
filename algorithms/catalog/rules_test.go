package catalog_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// A reason leads to the sentence of the source that it follows: the algorithm's own, if
// it has one for what it shares with others.
func TestSentence(t *testing.T) {
	for _, tt := range []struct{ algorithm, code, want string }{
		{"bully", "bully.no-ok", "If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)"},
		{"ring", "ring.above", "If the arrived attr is greater, pi forwards the message."},
		{"unknown", "nomination.asked-to-lead", "L1 sends TimeoutNow to L2 (start election immediately)"},
		{"chubby", "lease.lead", "Server with quorum becomes leader"},
		{"ring", "nomination.adopt", ""},
	} {
		if got := catalog.Sentence(tt.algorithm, catalog.Reason(tt.code)); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.algorithm, tt.code, got, tt.want)
		}
	}
}

// Ranked tells the algorithms that elect who ranks highest from those that elect who stands first.
func TestRanked(t *testing.T) {
	for _, e := range catalog.All() {
		if first := e.Name == "raft" || e.Name == "chubby"; e.Ranked() == first || e.WithLease().Ranked() == first {
			t.Errorf("%s: rank decides: %v", e.Name, e.Ranked())
		}
	}
}

// "A reason's kind is declared once": no two have one code, and each has a package, a
// word and a sentence.
func TestEachReasonIsDeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range catalog.Reasons() {
		of, word, ok := strings.Cut(k.Code, ".")
		if seen[k.Code] || !ok || of == "" || word == "" || k.Sentence == "" {
			t.Errorf("%q: %q", k.Code, k.Sentence)
		}
		seen[k.Code] = true
		if catalog.Reason(k.Code) != k {
			t.Errorf("%s is not found by its code", k.Code)
		}
	}
}

var rewrite = flag.Bool("rewrite", false, "write the golden file anew")

// Every sentence stands in one golden file, and in no other: rewording one changes a line.
func TestSentences(t *testing.T) {
	const golden = "testdata/reasons.txt"
	var told strings.Builder
	for _, k := range catalog.Reasons() {
		fmt.Fprintf(&told, "%-32s %s\n", k.Code, k.Sentence)
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(told.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if told.String() != string(want) {
		t.Errorf("the sentences are others: go test ./algorithms/catalog -run Sentences -rewrite, and read the diff")
	}
}
