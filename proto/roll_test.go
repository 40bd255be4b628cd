package proto

import (
	"math"
	"slices"
	"testing"
)

func TestRoll(t *testing.T) {
	peers := []Peer{
		{ID: MaxNodeID, Incarnation: Incarnation{0: 1, 15: 2}, Attr: math.MinInt64},
		{ID: 1, Attr: math.MaxInt64},
		{ID: 7, Incarnation: Incarnation{9}, Attr: -1},
	}
	var r Roll
	for _, p := range peers {
		if r.Has(p.ID) {
			t.Errorf("%d is on the roll before it was added", p.ID)
		}
		r = r.Add(p)
	}
	if got := slices.Collect(r.All()); !slices.Equal(got, peers) || r.Len() != 3 {
		t.Errorf("%d processes: %v; want %v", r.Len(), got, peers)
	}
	if RollOf(peers) != r {
		t.Errorf("made at once it is %v, not %v", RollOf(peers), r)
	}
	for _, p := range peers {
		if !r.Has(p.ID) {
			t.Errorf("%d is not on the roll", p.ID)
		}
	}
}
