package catalog_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

func TestLookup(t *testing.T) {
	for _, name := range catalog.Names() {
		e, err := catalog.Lookup(name)
		if err != nil || e.Name != name {
			t.Errorf("%s: %q, %v", name, e.Name, err)
		}
	}
	_, err := catalog.Lookup("paxos")
	if !errors.Is(err, catalog.ErrUnknown) || !strings.Contains(err.Error(), strings.Join(catalog.Names(), ", ")) {
		t.Errorf("an unknown name must be refused with those there are: %v", err)
	}
}

// Every algorithm elects its only node, and says how far that can be trusted.
func TestEveryEntryWorksAlone(t *testing.T) {
	for _, e := range catalog.All() {
		r := steptest.New(t, 1, e.Preempt, func(c algorithms.Config) algorithms.Machine {
			if e.NeedsVoters() {
				c.Voters = []proto.NodeID{1}
			}
			if e.Leased {
				c.Promise = e.Promise(c.Delta)
			}
			return e.New(c)
		})
		r.Start(0, 1)
		r.Fire()
		if r.Last.Leader.ID != 1 || e.Guarantee == "" || e.Leased != (e.Promise != nil) {
			t.Errorf("%s: %+v, %s", e.Name, r.Last.Leader, e.Guarantee)
		}
		if e.Summary == "" || e.Theory.BestCase == "" || len(e.Theory.Kinds) == 0 {
			t.Errorf("%s: the entry is incomplete", e.Name)
		}
	}
}

// Timeouts "follow from one stated worst-case one-way latency": they grow with
// it, and the bound on agreement is above each of them.
func TestTimeoutsFollowFromDelta(t *testing.T) {
	const delta = 100 * time.Millisecond
	for _, e := range catalog.All() {
		for _, tm := range e.Timeouts {
			for _, n := range []int{2, 5, 50} {
				d := tm.Of(delta, n)
				if d <= 0 || tm.Of(2*delta, n) != 2*d {
					t.Errorf("%s %s: not a multiple of delta", e.Name, tm.Name)
				}
				if e.Agreement(delta, n) < d {
					t.Errorf("%s: agreement within less than the timeout %s", e.Name, tm.Name)
				}
			}
		}
	}
}
