package quorum_test

import (
	"math/bits"
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

// "Lists that differ by one voter have majorities that meet", and those that differ by two
// need not: over all lists of up to seven voters.
func TestMajoritiesOfListsThatDifferByOneMeet(t *testing.T) {
	apart := false
	for one := uint(1); one < 1<<7; one++ {
		for other := uint(1); other < 1<<7; other++ {
			switch d := bits.OnesCount(one ^ other); {
			case d <= 1 && !allMeet(one, other):
				t.Fatalf("lists %07b and %07b have majorities that do not meet", one, other)
			case d == 2 && !allMeet(one, other):
				apart = true
			}
		}
	}
	if !apart {
		t.Error("lists that differ by two always have majorities that meet: the rule is not needed")
	}
}

// allMeet looks at all pairs of smallest majorities.
func allMeet(one, other uint) bool {
	majority := func(set, list uint) bool { return set&^list == 0 && 2*bits.OnesCount(set) > bits.OnesCount(list) }
	for a := uint(1); a < 1<<7; a++ {
		if majority(a, one) && majority(^a&other, other) {
			return false // what a leaves of the other list is a majority of that
		}
	}
	return true
}
