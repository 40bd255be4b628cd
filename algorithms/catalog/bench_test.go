package catalog_test

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// BenchmarkStep is what a Step costs in elections of 100 nodes that the lowest
// calls, in which a node leaves the view and comes back. An op is a Step. Steps of one
// sort, the same event that sends as many messages, are told apart, and count with
// their median: what interrupts a few of them, a collection of garbage, another
// process, does not tell. worst-ns is the costliest sort, of those that are frequent
// enough, ns/op the mean of all Steps. Only the Steps are timed; what reading the clock
// takes is taken off, and the first elections, of cold caches and a small heap, do not
// count. B/op and allocs/op are with the event of each Step.
func BenchmarkStep(b *testing.B) {
	var all []catalog.Entry
	for _, e := range catalog.All() {
		all = append(all, e)
		if !e.OwnLease {
			voted := e.WithLease()
			voted.Name += "+lease"
			all = append(all, voted)
		}
	}
	for _, e := range all {
		b.Run(e.Name, func(b *testing.B) {
			m := newMesh(e, 100)
			for range 3 {
				m.elect(b)
			}
			m.stopwatch = newStopwatch()
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				if steps == 0 {
					steps = m.elect(b)
				}
				steps--
			}
			m.report(b)
		})
	}
}

// mesh is Machines whose messages all arrive at once, in order.
type mesh struct {
	entry    catalog.Entry
	all      []proto.NodeID
	now      time.Time
	machines []algorithms.Machine
	outs     []algorithms.Output
	queue    []proto.Message
	steps    int
	*stopwatch
}

func newMesh(e catalog.Entry, nodes int) *mesh {
	m := &mesh{
		entry: e, now: steptest.Zero, stopwatch: newStopwatch(),
		machines: make([]algorithms.Machine, nodes), outs: make([]algorithms.Output, nodes),
	}
	for id := range proto.NodeID(nodes) {
		m.all = append(m.all, id+1)
	}
	return m
}

// start starts all Machines anew.
func (m *mesh) start() {
	for i, id := range m.all {
		cfg := algorithms.Config{
			Self: id, Incarnation: steptest.Incarnation(id), Delta: steptest.Delta, Seed: uint64(id),
		}
		if m.entry.NeedsVoters() {
			cfg.Voters = m.all
		}
		if m.entry.Leased {
			cfg.Promise = m.entry.Promise(cfg.Delta)
		}
		m.machines[i], m.outs[i] = m.entry.New(cfg), algorithms.Output{}
		m.step(i, "Start", algorithms.Start{})
		m.step(i, "first PeersChanged", steptest.Alive(m.all...))
	}
}

// elect makes elections among Machines that just started, and among the same again and
// again, an hour later each, and returns how many Steps it took.
func (m *mesh) elect(b *testing.B) int {
	m.steps = 0
	m.start()
	for range 10 {
		m.now = m.now.Add(time.Hour) // nothing is damped
		for i := range m.machines {
			m.step(i, "Timeout", algorithms.Timeout{}) // what had an end has ended
		}
		m.step(0, "Campaign", algorithms.Campaign{Reason: "benchmark"})
		m.agree(b)
		m.blink(len(m.machines) / 2)
		m.agree(b)
	}
	return m.steps
}

// blink lets one node leave the view of all others and come back.
func (m *mesh) blink(gone int) {
	without := slices.Delete(slices.Clone(m.all), gone, gone+1)
	for i := range m.machines {
		if i != gone {
			m.step(i, "PeersChanged", steptest.Alive(without...))
			m.step(i, "PeersChanged", steptest.Alive(m.all...))
		}
	}
}

// agree lets happen what happens until all agree.
func (m *mesh) agree(b *testing.B) {
	for !m.agreed() {
		if len(m.queue) == 0 {
			m.ring(b)
		}
		for head := 0; head < len(m.queue); head++ {
			msg := m.queue[head]
			m.step(int(msg.To)-1, msg.Body.Kind().String(), algorithms.Receive{Message: msg})
		}
		m.queue = m.queue[:0]
	}
}

func (m *mesh) step(i int, event string, ev algorithms.Event) {
	began := time.Now()
	out := m.machines[i].Step(m.now, ev)
	m.note(sort{event, len(out.Send)}, time.Since(began))
	m.steps++
	was := m.outs[i].Leader
	m.outs[i], m.queue = out, append(m.queue, out.Send...)
	if led := was.ID == proto.NodeID(i+1); led && out.Leader.ID != was.ID {
		m.step(i, "Idle", algorithms.WorkStopped{Term: was.Term})
	}
}

// agreed reports whether all name one leader, and nothing is under way.
func (m *mesh) agreed() bool {
	for i := range m.outs {
		l := m.outs[i].Leader
		if l.ID == 0 || l.Leadership() != m.outs[0].Leader.Leadership() {
			return false
		}
	}
	return len(m.queue) == 0
}

// ring lets the first deadline come.
func (m *mesh) ring(b *testing.B) {
	first := -1
	for i := range m.outs {
		due := m.outs[i].Deadline
		if !due.IsZero() && (first < 0 || due.Before(m.outs[first].Deadline)) {
			first = i
		}
	}
	if first < 0 {
		b.Fatal("all wait for ever")
	}
	m.now = m.outs[first].Deadline
	m.step(first, "Timeout", algorithms.Timeout{})
}

// sort is Steps that should cost alike.
type sort struct {
	event string
	sends int
}

// stopwatch keeps how long Steps took.
type stopwatch struct {
	reading time.Duration // of the clock, twice
	took    map[sort][]time.Duration
	began   runtime.MemStats
}

func newStopwatch() *stopwatch {
	w := &stopwatch{took: map[sort][]time.Duration{}}
	readings := make([]time.Duration, 1000)
	for i := range readings {
		began := time.Now()
		readings[i] = time.Since(began)
	}
	w.reading = median(readings)
	runtime.GC()
	runtime.ReadMemStats(&w.began)
	return w
}

// report says what a Step took, on average and of the costliest sort.
func (w *stopwatch) report(b *testing.B) {
	var ended runtime.MemStats
	runtime.ReadMemStats(&ended)
	sum, n := uint64(0), 0
	for _, took := range w.took {
		sum += uint64(len(took)) * uint64(median(took))
		n += len(took)
	}
	each := func(total uint64) float64 { return float64(total) / float64(n) }
	b.ReportMetric(each(sum), "ns/op")
	b.ReportMetric(each(ended.TotalAlloc-w.began.TotalAlloc), "B/op")
	b.ReportMetric(each(ended.Mallocs-w.began.Mallocs), "allocs/op")
	worst := w.worst()
	b.ReportMetric(worst.ns, "worst-ns")
	b.Logf("costliest: %v", worst)
}

func (w *stopwatch) note(s sort, took time.Duration) {
	w.took[s] = append(w.took[s], max(0, took-w.reading))
}

// costly is a sort of Steps and its median.
type costly struct {
	sort
	times int
	ns    float64
}

func (c costly) String() string {
	return fmt.Sprintf("%s, sends %d: %.0f ns, the median of %d", c.event, c.sends, c.ns, c.times)
}

// worst is the sort whose median is the highest, of those that are frequent enough
// to tell.
func (w *stopwatch) worst() costly {
	const enough = 50
	var all []costly
	for s := range maps.Keys(w.took) {
		if took := w.took[s]; len(took) >= enough {
			all = append(all, costly{s, len(took), float64(median(took))})
		}
	}
	return slices.MaxFunc(all, func(a, b costly) int { return cmp.Compare(a.ns, b.ns) })
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
