package daemon

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
)

// "With an office it is the office" that nodes must share; "a quorum of an algorithm's
// own is none of its", and best-effort nodes share the algorithm.
func TestFamily(t *testing.T) {
	own := catalog.Entry{
		About: algorithms.About{Name: "of-its-own", Guarantee: algorithms.Lease}, Office: true,
	}
	voters := quorum.Voters{1, 2, 3}
	for _, e := range catalog.All() {
		alone := Settings{Algorithm: e}
		office := Settings{Algorithm: e.WithOffice(), Voters: voters, Promise: time.Second}
		want := "office"
		if e.Guarantee != algorithms.BestEffort {
			want = e.Name
		}
		if alone.Family() != e.Name || alone.ElectionLabel() != e.Name || office.Family() != want ||
			office.ElectionLabel() != want+" with promise 1s" {
			t.Errorf("%s: %s, %s; with voters %s, %s", e.Name,
				alone.Family(), alone.ElectionLabel(), office.Family(), office.ElectionLabel())
		}
	}
	if got := (Settings{Algorithm: own, Voters: voters}).Family(); got != own.Name {
		t.Errorf("a quorum of its own is of the family %q", got)
	}
}
