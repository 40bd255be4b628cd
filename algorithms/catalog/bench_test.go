package catalog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// BenchmarkStep is what a Step costs in elections of 100 nodes that the lowest
// calls. ns/op is the mean. Steps of one sort, the same event that sends as many
// messages, are told apart: worst-ns is the median of the costliest sort.
func BenchmarkStep(b *testing.B) {
	for _, e := range catalog.All() {
		b.Run(e.Name, func(b *testing.B) {
			m := newMesh(e, 100)
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				if steps == 0 {
					steps = m.elect(b)
				}
				steps--
			}
			b.ReportMetric(m.worst(), "worst-ns")
			b.Logf("costliest: %s", m.costliest)
		})
	}
}

// mesh is Machines whose messages all arrive at once, in order.
type mesh struct {
	now      time.Time
	machines []algorithms.Machine
	outs     []algorithms.Output
	queue    []proto.Message
	took     map[string][]time.Duration // by sort of Step
	steps    int
	// costliest is the sort whose median is the highest.
	costliest string
}

func newMesh(e catalog.Entry, nodes int) *mesh {
	m := &mesh{now: steptest.Zero, took: map[string][]time.Duration{}}
	var all []proto.NodeID
	for id := range proto.NodeID(nodes) {
		all = append(all, id+1)
		m.outs = append(m.outs, algorithms.Output{})
	}
	for _, id := range all {
		cfg := algorithms.Config{
			Self: id, Session: steptest.Session(id), Delta: steptest.Delta, Seed: uint64(id),
		}
		if e.NeedsVoters() {
			cfg.Voters = all
		}
		if e.Office {
			cfg.Promise = e.Promise(cfg.Delta)
		}
		m.machines = append(m.machines, e.New(cfg))
	}
	for i := range m.machines {
		m.step(i, "Start", algorithms.Start{})
		m.step(i, "PeersChanged", steptest.Alive(all...))
	}
	return m
}

// elect makes one election and returns how many Steps it took.
func (m *mesh) elect(b *testing.B) int {
	m.now = m.now.Add(time.Hour) // nothing is damped
	m.steps = 0
	for i := range m.machines {
		m.step(i, "Timeout", algorithms.Timeout{}) // what had an end has ended
	}
	m.step(0, "Campaign", algorithms.Campaign{Reason: "benchmark"})
	for !m.agreed() {
		if len(m.queue) == 0 {
			m.ring(b)
		}
		for len(m.queue) > 0 {
			msg := m.queue[0]
			m.queue = m.queue[1:]
			m.step(int(msg.To)-1, msg.Body.Kind().String(), algorithms.Receive{Message: msg})
		}
	}
	return m.steps
}

func (m *mesh) step(i int, sort string, ev algorithms.Event) {
	began := time.Now()
	out := m.machines[i].Step(m.now, ev)
	took := time.Since(began)
	m.steps++
	sort = fmt.Sprintf("%s, sends %d", sort, len(out.Send))
	m.took[sort] = append(m.took[sort], took)
	was := m.outs[i].Leader
	m.outs[i], m.queue = out, append(m.queue, out.Send...)
	if led := was.ID == proto.NodeID(i+1); led && out.Leader.ID != was.ID {
		m.step(i, "Idle", algorithms.Idle{Term: was.Term})
	}
}

// agreed reports whether all name one leader, and nothing is under way.
func (m *mesh) agreed() bool {
	for _, out := range m.outs {
		if out.Leader.ID == 0 || out.Leader.Epoch() != m.outs[0].Leader.Epoch() {
			return false
		}
	}
	return len(m.queue) == 0
}

// ring lets the first deadline come.
func (m *mesh) ring(b *testing.B) {
	first := -1
	for i, out := range m.outs {
		if !out.Deadline.IsZero() && (first < 0 || out.Deadline.Before(m.outs[first].Deadline)) {
			first = i
		}
	}
	if first < 0 {
		b.Fatal("all wait for ever")
	}
	m.now = m.outs[first].Deadline
	m.step(first, "Timeout", algorithms.Timeout{})
}

// worst is the median, in nanoseconds, of the sort of Steps whose median is the
// highest, of those that are frequent enough to tell.
func (m *mesh) worst() float64 {
	const enough = 20
	highest := time.Duration(0)
	for sort, took := range m.took {
		slices.Sort(took)
		if median := took[len(took)/2]; len(took) >= enough && median > highest {
			highest, m.costliest = median, sort
		}
	}
	return float64(highest)
}
