package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/proto"
)

func leased(t testing.TB, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return algorithmWith(e.WithLease())
}

func fencedLease(t testing.TB, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return algorithmWith(e.WithLease().WithFence())
}

func algorithmWith(e catalog.Entry) Algorithm {
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
		Agreement: e.Agreement, Leased: true, OwnLease: e.OwnLease, Promise: e.Promise,
	}
}

// "At any instant of true time at most one process leads", and all
// the other invariants.
func TestLeaseSchedules(t *testing.T) {
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			s := mustBatch(t, Options{Algorithm: leased(t, name), Seed: 1}, schedules(t)/3/len(catalog.Names()))
			if s.ContestedSeconds.Max != 0 {
				t.Errorf("two led for %v seconds", s.ContestedSeconds.Max)
			}
		})
	}
}

func TestLongLeaseSchedules(t *testing.T) { TestLeaseSchedules(t) }

// nominator is a nominating Machine that does what it likes.
type nominator struct {
	cfg   algorithms.Config
	whom  func(self proto.NodeID, step int) proto.NodeID
	term  proto.Term
	steps int
	peers []proto.Peer
}

func (n *nominator) Step(_ time.Time, ev algorithms.Event) algorithms.Output {
	if _, ok := ev.(algorithms.Timeout); !ok { // a spurious one must change nothing
		n.steps++
	}
	switch ev := ev.(type) {
	case algorithms.Start:
		n.term = max(1, ev.Saved.Term) // a node's term never goes back
	case algorithms.PeersChanged:
		n.peers = ev.Alive
	}
	id := n.whom(n.cfg.Self, n.steps)
	leader := algorithms.Leader{ID: id, Term: n.term}
	for _, p := range n.peers {
		if p.ID == id {
			leader.Incarnation = p.Incarnation
		}
	}
	return algorithms.Output{Leader: leader}
}

// "It never decides what is safe, and is never needed": nobody is nominated,
// everybody nominates itself, nominees change with each event.
func TestLeadingNeedsNoNomination(t *testing.T) {
	for name, whom := range map[string]func(self proto.NodeID, step int) proto.NodeID{
		"nobody": func(proto.NodeID, int) proto.NodeID { return 0 },
		"itself": func(self proto.NodeID, _ int) proto.NodeID { return self },
		"anybody": func(self proto.NodeID, step int) proto.NodeID {
			return (self+proto.NodeID(step))%7 + 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := leased(t, "bully")
			a.New = func(cfg algorithms.Config) algorithms.Machine {
				return lease.New(cfg, func(c algorithms.Config) algorithms.Machine {
					return &nominator{cfg: c, whom: whom}
				})
			}
			for seed := range uint64(long.Runs(t, 60, 300)) {
				r, err := Run(Options{Algorithm: a, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range r.Violations {
					if !strings.HasPrefix(v.Name, "best-") { // it leads when it is nominated
						t.Errorf("%s: %v", r.Repro, v)
					}
				}
			}
		})
	}
}

func TestLongLeadingNeedsNoNomination(t *testing.T) { TestLeadingNeedsNoNomination(t) }
