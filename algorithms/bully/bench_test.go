package bully_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// apart is how far one failover of a benchmark is from the next: long enough
// for the damping to have forgotten it.
const apart = time.Hour

func peers(n proto.NodeID) []proto.Peer {
	all := make([]proto.Peer, 0, n)
	for id := proto.NodeID(1); id <= n; id++ {
		all = append(all, proto.Peer{ID: id, Incarnation: proto.Incarnation{byte(id)}})
	}
	return all
}

// BenchmarkFailover is what the next in line computes when the leader dies and
// when it is back: three Steps.
func BenchmarkFailover(b *testing.B) {
	all := peers(5)
	m := bully.New(algorithms.Config{
		Self: 4, Incarnation: all[3].Incarnation, Delta: 100 * time.Millisecond, Preempt: true,
	})
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	out := m.Step(now, algorithms.Start{})
	back := algorithms.Receive{Message: proto.Message{
		From: 5, To: 4, Body: nomination.Coordinator{Leader: all[4]},
	}}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(apart)
		m.Step(now, algorithms.PeersChanged{Alive: all})
		back.Term = out.Leader.Term + 1
		m.Step(now, back)
		out = m.Step(now, algorithms.PeersChanged{Alive: all[:4]})
		if out.Leader.ID != 4 || len(out.Send) != 3 {
			b.Fatalf("no failover: %+v", out)
		}
	}
}

// BenchmarkStep is the commonest Step: the leader repeats itself.
func BenchmarkStep(b *testing.B) {
	all := peers(5)
	m := bully.New(algorithms.Config{
		Self: 4, Incarnation: all[3].Incarnation, Delta: 100 * time.Millisecond, Preempt: true,
	})
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	m.Step(now, algorithms.Start{})
	m.Step(now, algorithms.PeersChanged{Alive: all})
	var again algorithms.Event = algorithms.Receive{Message: proto.Message{
		From: 5, To: 4, Term: 1, Body: nomination.Coordinator{Leader: all[4]},
	}}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		if out := m.Step(now, again); out.Leader.ID != 5 {
			b.Fatalf("does not follow: %+v", out)
		}
	}
}
