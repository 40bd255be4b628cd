package sim

import (
	"math"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/proto"
)

// Failure-free message counts and transmission times are the catalogue's: exactly
// where its formulas are exact, and within them where they are bounds.
func TestTheory(t *testing.T) {
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range clusters(t, 100, 2, 3, 4, 5, 7, 8, 9, 20) {
				best := mustRun(t, runOf(entered(e), e.Theory.BestRun, n))
				within(t, best, e.Theory.BestRun, e.Theory.Best(n), n)
				worst := mustRun(t, runOf(entered(e), e.Theory.WorstRun, n))
				within(t, worst, e.Theory.WorstRun, e.Theory.Worst(n), n)
			}
		})
	}
}

func TestLongTheory(t *testing.T) { TestTheory(t) }

// clusters are the sizes of the clusters to try: small ones, and in make test-long a large one.
func clusters(t *testing.T, large int, small ...int) []int {
	if long.Test(t) {
		return []int{large}
	}
	return small
}

// runOf is the analysis that shows a run of n living nodes.
func runOf(a Algorithm, r algorithms.Run, n int) Options {
	o := Options{Algorithm: a, Nodes: n, AllInitiate: r.Caller == nil}
	if r.Caller != nil {
		o.Initiators = []proto.NodeID{r.Caller(n)}
	}
	if r.Crash {
		o.Nodes++
		o.Crashed = []proto.NodeID{proto.NodeID(o.Nodes)}
	}
	return o
}

func within(t *testing.T, got Result, r algorithms.Run, messages, n int) {
	t.Helper()
	times := r.Times(n)
	if r.AtMost && (got.Messages["total"] > messages || got.TransmissionTimes > times) {
		t.Errorf("n=%d: %v in %d, want at most %d in %d",
			n, got.Messages, got.TransmissionTimes, messages, times)
	}
	if !r.AtMost && (got.Messages["total"] != messages || got.TransmissionTimes != times) {
		t.Errorf("n=%d: %v in %d, want %d in %d",
			n, got.Messages, got.TransmissionTimes, messages, times)
	}
	if int(got.Leader) != n {
		t.Errorf("n=%d: leader %d", n, got.Leader)
	}
}

// Lecture notes: "Each process monitors next-highest ID process (successor)." When all notice that the
// leader of ZooKeeper's election died, only the next in line calls an election, whoever notices first: that
// costs what the best case does.
func TestCrashWakesTheNextInLineAlone(t *testing.T) {
	e, err := catalog.Lookup("zookeeper")
	if err != nil {
		t.Fatal(err)
	}
	for nodes, messages := range map[int]int{5: 9, 10: 24, 50: 144} {
		for initiator := range proto.NodeID(nodes - 1) {
			r := mustRun(t, Options{
				Algorithm: entered(e), Nodes: nodes, Initiators: []proto.NodeID{initiator + 1},
				Crashed: []proto.NodeID{proto.NodeID(nodes)}, Detector: Perfect,
			})
			if r.Messages["total"] != messages || messages != e.Theory.Best(nodes-1) || r.TransmissionTimes != 3 {
				t.Errorf("%s: %v in %d", r.Repro, r.Messages, r.TransmissionTimes)
			}
		}
	}
}

// No initiator, nor any order of the ring, costs less than the best case or more
// than the worst.
func TestTheoryBoundsAllOthers(t *testing.T) {
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range clusters(t, 33, 2, 3, 5, 7, 16) {
				times := max(e.Theory.BestRun.Times(n), e.Theory.WorstRun.Times(n))
				for initiator := range proto.NodeID(n) {
					r := mustRun(t, Options{Algorithm: entered(e), Nodes: n, Initiators: []proto.NodeID{initiator + 1}})
					bounded(t, e, r, n, times)
				}
				for seed := range uint64(10) {
					r := mustRun(t, Options{
						Algorithm: entered(e), Nodes: n, Seed: seed, Initiators: []proto.NodeID{1}, Shuffle: true,
					})
					bounded(t, e, r, n, times)
				}
			}
		})
	}
}

func TestLongTheoryBoundsAllOthers(t *testing.T) { TestTheoryBoundsAllOthers(t) }

func bounded(t *testing.T, e catalog.Entry, r Result, n, times int) {
	t.Helper()
	if total := r.Messages["total"]; total < e.Theory.Best(n) || total > e.Theory.Worst(n) ||
		r.TransmissionTimes > times {
		t.Errorf("%s: %v in %d, want %d to %d in at most %d", r.Repro, r.Messages,
			r.TransmissionTimes, e.Theory.Best(n), e.Theory.Worst(n), times)
	}
}

// What theory says of the average holds over rings in random order: of the ring's
// ELECTION, n·Hₙ (Chang and Roberts 1979).
func TestTheoryOnAverage(t *testing.T) {
	for _, e := range catalog.All() {
		average := e.Theory.Average
		if average == nil {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range []int{5, 20, 50} {
				s := mustBatch(t, Options{
					Algorithm: entered(e), Nodes: n, AllInitiate: true, Shuffle: true,
				}, 400)
				want := average.Of(n)
				if got := s.Messages[average.Kind.String()].Mean; math.Abs(got-want) > 0.03*want {
					t.Errorf("n=%d: %.2f on average, want about %.2f", n, got, want)
				}
			}
		})
	}
}
