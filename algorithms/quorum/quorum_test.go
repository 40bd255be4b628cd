package quorum_test

import (
	"slices"
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

// "Those of a view who vote: the view itself where all do", in whatever order either is.
func TestAmong(t *testing.T) {
	view := func(ids ...proto.NodeID) (peers []proto.Peer) {
		for _, id := range ids {
			peers = append(peers, proto.Peer{ID: id})
		}
		return peers
	}
	v := quorum.Voters{2, 4, 6, 9, 8}
	for _, all := range [][]proto.Peer{view(2, 4, 6, 8, 9), view(4, 8), view(9, 2), nil} {
		if got := v.Among(all); len(got) != len(all) || len(got) > 0 && &got[0] != &all[0] {
			t.Errorf("all of %v vote, got %v", all, got)
		}
	}
	some := view(1, 2, 3, 8, 9, 10)
	if got, want := v.Among(some), view(2, 8, 9); !slices.Equal(got, want) {
		t.Errorf("of %v vote %v, got %v", some, want, got)
	}
	if !slices.Equal(some, view(1, 2, 3, 8, 9, 10)) {
		t.Errorf("the view was written to: %v", some)
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
