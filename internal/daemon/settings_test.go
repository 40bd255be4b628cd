package daemon

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
)

// Nodes whose algorithms nominate share that; an algorithm whose own rules decide is a family of its
// own, and best-effort nodes share the algorithm.
func TestFamily(t *testing.T) {
	own := catalog.Entry{
		About: algorithms.About{Name: "of-its-own", Guarantee: algorithms.Lease}, Leased: true,
	}
	voters := quorum.Voters{1, 2, 3}
	for _, e := range catalog.All() {
		alone := Settings{Algorithm: e}
		leased := Settings{Algorithm: e.WithLease(), Voters: voters, Promise: time.Second}
		want := "nomination"
		if e.Guarantee != algorithms.BestEffort {
			want = e.Name
		}
		if alone.Family() != e.Name || alone.ElectionLabel() != e.Name || leased.Family() != want ||
			leased.ElectionLabel() != want+" with leases of 1s" {
			t.Errorf("%s: %s, %s; with voters %s, %s", e.Name,
				alone.Family(), alone.ElectionLabel(), leased.Family(), leased.ElectionLabel())
		}
	}
	if got := (Settings{Algorithm: own, Voters: voters}).Family(); got != own.Name {
		t.Errorf("a quorum of its own is of the family %q", got)
	}
}
