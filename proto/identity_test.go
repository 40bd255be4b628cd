package proto

import (
	"errors"
	"slices"
	"testing"
)

func TestNodeIDs(t *testing.T) {
	for s, want := range map[string]NodeID{"1": 1, "007": 7, "9007199254740992": MaxNodeID} {
		if id, err := ParseNodeID(s); err != nil || id != want {
			t.Errorf("%q: %v, %v; want %v", s, id, err, want)
		}
	}
	for _, s := range []string{
		"", "0", "-1", "+1", "1.0", "n1", " 1", "9007199254740993", "18446744073709551616",
	} {
		if id, err := ParseNodeID(s); !errors.Is(err, ErrNodeID) {
			t.Errorf("%q: %v, %v; want %v", s, id, err, ErrNodeID)
		}
	}
}

// Rank is being eligible, then the attribute, then the id, compared in that
// order; so ties cannot be.
func TestRankOrder(t *testing.T) {
	want := []Rank{
		{9, 8, true},
		{9, 9, true},
		{-5, 9, false},
		{0, 1, false},
		{0, 2, false},
		{3, 1, false},
		{3, MaxNodeID, false},
	}
	assertOrder(t, want, Rank.Compare)
	if got := (Peer{ID: 2, Attr: 3, Incarnation: Incarnation{9}}).Rank(); got != (Rank{Attr: 3, ID: 2}) {
		t.Errorf("a peer's rank is %+v", got)
	}
}

// A leadership is (term, leader id, incarnation), compared in that order.
func TestLeadershipOrder(t *testing.T) {
	assertOrder(t, []Leadership{
		{},
		{Term: 1, Leader: 1, Incarnation: Incarnation{1}},
		{Term: 1, Leader: 1, Incarnation: Incarnation{1, 15: 1}},
		{Term: 1, Leader: 2},
		{Term: 2, Leader: 1},
		{Term: MaxTerm, Leader: 1},
	}, Leadership.Compare)
}

// assertOrder checks that compare finds want in strictly rising order, each
// element against each.
func assertOrder[T any](t *testing.T, want []T, compare func(T, T) int) {
	t.Helper()
	for i, a := range want {
		for j, b := range want {
			if got := compare(a, b); sign(got) != sign(i-j) {
				t.Errorf("%+v against %+v: %d", a, b, got)
			}
		}
	}
}

func sign(n int) int { return max(-1, min(n, 1)) }

// (id, incarnation) is one process.
func TestPeersAreProcesses(t *testing.T) {
	p := Peer{ID: 1, Incarnation: Incarnation{1}, Attr: 1}
	if !p.Is(Peer{ID: 1, Incarnation: Incarnation{1}, Attr: 2}) {
		t.Error("a process with another attribute is another process")
	}
	if p.Is(Peer{ID: 1, Incarnation: Incarnation{2}, Attr: 1}) || p.Is(Peer{ID: 2, Incarnation: Incarnation{1}}) {
		t.Error("another incarnation or id is the same process")
	}
}

func TestIncarnations(t *testing.T) {
	drawn := []Incarnation{NewIncarnation(), NewIncarnation(), NewIncarnation()}
	slices.SortFunc(drawn, Incarnation.Compare)
	for i, s := range drawn {
		if s.IsZero() || i > 0 && s == drawn[i-1] {
			t.Errorf("drew %v after %v", s, drawn[:i])
		}
	}
	s := Incarnation{0xde, 0xad, 0xbe, 0xef, 15: 1}
	if s.Short() != "deadbeef" || s.String() != "deadbeef000000000000000000000001" {
		t.Errorf("%v, short %s", s, s.Short())
	}
}
