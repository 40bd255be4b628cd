package daemon

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A voter that was given a first term says how many voters have to answer, and does not advise to set one. Once
// another voter voted in that term, the first term is of no use, and the advice is given.
func TestRecoveryWithAFirstTerm(t *testing.T) {
	r := &algorithms.Recovery{
		Asked: true, Need: 3, Lost: []proto.NodeID{1, 2}, Silent: []proto.NodeID{3, 4, 5},
	}
	for _, c := range []struct {
		first, voted proto.Term
		told         []proto.NodeID
		want         string
	}{
		{0, 0, nil, "start what is not there, or, if this cluster never ran, set first-term to 1"},
		{1, 0, nil, "with first-term 1, 3 voters are enough: start what is not there"},
		{7, 6, []proto.NodeID{6}, "with first-term 7, 3 voters are enough: start what is not there"},
		{7, 7, []proto.NodeID{6}, "set first-term to 8 or higher, above all that this cluster ever voted in"},
	} {
		r.Voted, r.Told = c.voted, c.told
		got := recoveryWords(r, nil, c.first, 3)
		if !strings.HasSuffix(got, ": "+c.want) && !strings.HasSuffix(got, "; if it cannot be, "+c.want) ||
			c.first > c.voted && strings.Contains(got, "set first-term") {
			t.Errorf("first term %d, voted in %d: %s", c.first, c.voted, got)
		}
	}
}
