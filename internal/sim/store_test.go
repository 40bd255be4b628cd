package sim

import (
	"maps"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/proto"
)

// onStore is the algorithm that nominates around an entry in a store.
func onStore(t testing.TB, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return entered(e.WithStore(algorithms.Lease))
}

// nominating are the algorithms that can nominate for a store: those that need no voters.
func nominating() (names []string) {
	for _, e := range catalog.All() {
		if e.Guarantee == algorithms.BestEffort {
			names = append(names, e.Name)
		}
	}
	return names
}

// On a store that loses, delays and reorders, "at any instant of true time at most one process leads",
// and all the other invariants.
func TestStoreSchedules(t *testing.T) {
	for _, name := range nominating() {
		t.Run(name, func(t *testing.T) {
			mustBatch(t, Options{Algorithm: onStore(t, name), Seed: 1}, long.Runs(t, 60, 1000))
		})
	}
}

func TestLongStoreSchedules(t *testing.T) { TestStoreSchedules(t) }

// An idle store is asked by the leader alone, three times a TTL.
func TestAnIdleStoreIsAskedByItsLeader(t *testing.T) {
	const renewals, nodes = 40, 5
	for _, name := range nominating() {
		last, a := map[proto.NodeID]uint64{}, onStore(t, name)
		create := a.New
		a.New = func(c algorithms.Config) algorithms.Machine { return asker{create(c), c.Self, last} }
		c := agreedAmong(t, a, nodes)
		before := maps.Clone(last)
		c.runUntil(c.now + renewals*c.Promise/3)
		for id, n := range last {
			leads := id == c.leader().id
			if asks := n - before[id]; leads && (asks < renewals-2 || asks > renewals+1) || !leads && asks > 0 {
				t.Errorf("%s: %d asked %d times in %d thirds of a TTL, and %d leads", name, id, asks, renewals,
					c.leader().id)
			}
		}
	}
}

// asker is a Machine that notes the number of its last ask.
type asker struct {
	algorithms.Machine
	self proto.NodeID
	last map[proto.NodeID]uint64
}

func (m asker) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := m.Machine.Step(now, ev)
	if out.Ask != nil {
		m.last[m.self] = out.Ask.Number
	}
	return out
}

// A store that is set back ends each node that knows of a higher token, before it leads by a lower one.
func TestStoreSetBack(t *testing.T) {
	c := agreedAmong(t, onStore(t, "bully"), 3)
	c.shelf.tokens = 1000
	c.takeAway(func(int, kept) bool { return true })
	c.runUntil(c.now + 2*c.Promise)
	if term := c.leader().life.belief.Term; term <= 1000 {
		t.Fatalf("leads by the token %d", term)
	}
	c.shelf.tokens, c.shelf.setBack = 0, true
	c.takeAway(func(int, kept) bool { return true })
	c.runUntil(c.now + 8*c.Promise)
	for _, n := range c.nodes {
		if n.life != nil {
			t.Errorf("%d did not end: %+v", n.id, n.life.belief)
		}
	}
	if len(c.violations) > 0 {
		t.Error(c.violations)
	}
}
