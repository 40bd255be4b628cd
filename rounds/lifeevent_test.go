package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "An operator told a leader to stop, and Ended is missing": it wrote on for a moment after it had said good-bye.
func TestEndAfterGoodbye(t *testing.T) {
	v := newVoters()
	v.follow(2, 20, 1, 1)
	v.lose(1, 1000, "joined 2, joined 3", 1, 2, 3)
	v.lose(1, 1010, "left 2", 1, 3)
	v.add(2, 1800, trace.Record{Event: "timeout"})
	v.lose(1, 9000, "", 1, 3)
	for _, n := range v.b.History().Groups[0].Nodes {
		if n.ID != 2 {
			continue
		}
		e := n.Lives[0].Events
		if len(e) == 0 || e[len(e)-1].Kind != rounds.Ended || !e[len(e)-1].At.Equal(atMS(1800)) {
			t.Errorf("%+v", e)
		}
	}
}
