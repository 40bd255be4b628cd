package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Every answer, page and record of it says 'unauthenticated'": the stories that are made of its records do, too.
func TestUnauthenticatedNodesAreTold(t *testing.T) {
	open := onStore(0, 1, 1, 0, "start", 0)
	open.Security = trace.Unauthenticated
	closed := open
	closed.Node, closed.Incarnation, closed.Security = 3, "n3", ""
	b := rounds.NewBuilder()
	b.Add(&open)
	b.Add(&closed)
	h := b.History()
	if len(h.Notes) != 1 || !strings.Contains(h.Notes[0], `Unauthenticated: node 2 of cluster "c" ran without`) {
		t.Errorf("notes: %q", h.Notes)
	}
}
