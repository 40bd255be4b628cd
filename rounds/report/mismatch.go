package report

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// mismatched says which nodes took no part with which others, since their settings differ.
func mismatched(g *rounds.Group) (lines []string) {
	for i := range g.Mismatches {
		lines = append(lines, mismatch(g, &g.Mismatches[i]))
	}
	return lines
}

// mismatch says which nodes took no part with which others, and why.
func mismatch(g *rounds.Group, m *rounds.Mismatch) string {
	did, first := "refused", ""
	if m.Link {
		did = "got no link to"
	}
	if len(m.Nodes)+len(m.Others) > 2 {
		first = ", first"
	}
	return fmt.Sprintf("%s %s %s%s at %s, by %s own word: %s.", words.Upper(words.Nodes(m.Nodes)), did,
		words.Nodes(m.Others), first, when(g, m.At), words.Either(len(m.Nodes), "its", "their"), m.Why)
}
