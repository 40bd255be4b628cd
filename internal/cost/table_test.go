package cost

import (
	"os"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// Promise: the table in the documentation is what `ringleader simulate --table`
// prints, and every figure in it is theory's or within its bounds.
func TestLongTableInTheDocumentation(t *testing.T) {
	t.Parallel()
	text, wrong, err := Table(catalog.All())
	if err != nil || wrong > 0 {
		t.Fatalf("%d figures are not theory's, %v:\n%s", wrong, err, text)
	}
	page, err := os.ReadFile("../../docs/ALGORITHMS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- table -->\n")
	if documented, _, _ := strings.Cut(rest, "<!-- end"); documented != text {
		t.Errorf("docs/ALGORITHMS.md has another table:\n%s\nwant\n%s", documented, text)
	}
	words := strings.Join(strings.Fields(string(page)), " ")
	for _, e := range catalog.All() {
		if !strings.Contains(words, e.Theory.Notes) {
			t.Errorf("docs/ALGORITHMS.md does not say of %s: %s", e.Name, e.Theory.Notes)
		}
	}
	for _, name := range catalog.Names() {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/ALGORITHMS.md does not say what %s is", name)
		}
	}
}
