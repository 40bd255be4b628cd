package sim

import (
	"os"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/highest"
)

// "Adding an algorithm means one package and one line in the catalogue": the example
// of the documentation passes what every algorithm passes.
func TestAnAddedAlgorithm(t *testing.T) {
	e := catalog.Entry{About: highest.About()}
	conform(t, entered(e), sizesOf(t)...)
	conform(t, entered(e.WithLease()), sizesOf(t)...)
	mustBatch(t, Options{Algorithm: entered(e), Seed: 1}, 500)
	mustBatch(t, Options{Algorithm: entered(e.WithLease()), Seed: 1}, 200)
	for _, n := range []int{2, 5, 100} {
		within(t, mustRun(t, runOf(entered(e), e.Theory.BestRun, n)), e.Theory.BestRun, e.Theory.Best(n), n)
		within(t, mustRun(t, runOf(entered(e), e.Theory.WorstRun, n)), e.Theory.WorstRun, e.Theory.Worst(n), n)
	}
}

func TestLongAnAddedAlgorithm(t *testing.T) { TestAnAddedAlgorithm(t) }

// The documentation shows the code that is tested.
func TestAddingIsWhatIsTested(t *testing.T) {
	code, err := os.ReadFile("../highest/highest.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/ADDING-AN-ALGORITHM.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(code), ")\n\n")
	for part := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		if !strings.Contains(string(text), part) {
			t.Errorf("not in the documentation:\n%s", part)
		}
	}
}
