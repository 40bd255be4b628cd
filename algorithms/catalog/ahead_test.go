package catalog_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Ahead says that a node which begins is in the round of the term after the last one that it knows."
func TestAhead(t *testing.T) {
	for _, e := range catalog.All() {
		if !e.Leased {
			e = e.WithLease()
		}
		want := proto.Term(4)
		if e.Ahead {
			want = 5
		}
		r := steptest.NewVoter(t, 1, nil, e.New)
		vote := algorithms.Vote{Term: 4, ID: 1, Incarnation: steptest.Incarnation(9)}
		out := r.Step(0, algorithms.Start{Saved: algorithms.State{Term: 4, Reserved: 4, Vote: vote}})
		if out.Round != want {
			t.Errorf("%s: begins in round %d, want %d", e.Name, out.Round, want)
		}
	}
}
