package quorum_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Any two majorities of the same voters have a voter in common."
func TestMajoritiesIntersect(t *testing.T) {
	for n := 1; n <= 9; n++ {
		v := make(quorum.Voters, n)
		if need := v.Majority(); 2*need <= n || 2*(need-1) > n {
			t.Errorf("a majority of %d is %d", n, need)
		}
	}
}

// A voter counts once, however often its answer arrives, and others never.
func TestCount(t *testing.T) {
	v := quorum.Voters{1, 2, 3, 4}
	var c quorum.Count
	for _, id := range []proto.NodeID{2, 2, 2, 3} {
		c.Add(id)
	}
	if c.Of(v) || c.Len() != 2 {
		t.Errorf("2 of 4 are a majority, or counted as %d", c.Len())
	}
	c.Add(4)
	if !c.Of(v) {
		t.Error("3 of 4 are no majority")
	}
	c.Remove(2)
	if c.Of(v) || c.Has(2) || !c.Has(3) {
		t.Errorf("after 2 took it back: %+v", c)
	}
	c.Reset()
	if c.Len() != 0 || v.Has(5) || !v.Has(1) {
		t.Error("who votes is a matter of configuration")
	}
}
