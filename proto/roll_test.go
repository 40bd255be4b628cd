package proto

import (
	"math"
	"slices"
	"testing"
)

func TestRoll(t *testing.T) {
	peers := []Peer{
		{ID: MaxNodeID, Session: Session{0: 1, 15: 2}, Attr: math.MinInt64},
		{ID: 1, Attr: math.MaxInt64},
		{ID: 7, Session: Session{9}, Attr: -1},
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
	for _, p := range peers {
		if !r.Has(p.ID) {
			t.Errorf("%d is not on the roll", p.ID)
		}
	}
}
