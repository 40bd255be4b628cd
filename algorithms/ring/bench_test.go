package ring_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// member2 is node 2 of five.
func member2() (m algorithms.Machine, all []proto.Peer, now time.Time) {
	for id := proto.NodeID(1); id <= 5; id++ {
		all = append(all, proto.Peer{ID: id, Incarnation: proto.Incarnation{byte(id)}})
	}
	m = ring.New(algorithms.Config{
		Self: 2, Incarnation: all[1].Incarnation, Delta: 100 * time.Millisecond,
	})
	now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	m.Step(now, algorithms.Start{})
	m.Step(now, algorithms.PeersChanged{Alive: all})
	return m, all, now
}

// BenchmarkRound is what a node in the middle computes in a round: it passes
// ELECTION on, then ELECTED. Two Steps.
func BenchmarkRound(b *testing.B) {
	m, all, now := member2()
	var term proto.Term
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		term++
		m.Step(now, algorithms.Receive{Message: proto.Message{
			From: 1, To: 2, Term: term,
			Body: ring.Election{Initiator: 5, Best: all[4], Hops: 2},
		}})
		out := m.Step(now, algorithms.Receive{Message: proto.Message{
			From: 1, To: 2, Term: term, Body: topology.Elected{Leader: all[4], Hops: 2},
		}})
		if out.Leader.ID != 5 || len(out.Send) != 1 {
			b.Fatalf("no round: %+v", out)
		}
	}
}

// BenchmarkStep is the commonest Step: the leader repeats itself.
func BenchmarkStep(b *testing.B) {
	m, all, now := member2()
	var again algorithms.Event = algorithms.Receive{Message: proto.Message{
		From: 5, To: 2, Term: 1, Body: topology.Elected{Leader: all[4]},
	}}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		if out := m.Step(now, again); out.Leader.ID != 5 {
			b.Fatalf("does not follow: %+v", out)
		}
	}
}
