package sim

import (
	"context"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

func algorithmOf(t *testing.T, name string) Algorithm {
	t.Helper()
	e, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt,
		New: e.New, Agreement: e.Agreement, Leased: e.Leased, OwnLease: e.OwnLease, Promise: e.Promise,
	}
}

func mustRun(t *testing.T, o Options) Result {
	t.Helper()
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Violations {
		t.Errorf("%s: %v", r.Repro, v)
	}
	return r
}

var sizes = []int{3, 4, 5, 7, 20, 100}

// Lecture notes: "Best case? Initiator is the would-be leader. Message complexity:
// 2N messages. Completion time: 2N message transmission times."
func TestRingBestCase(t *testing.T) {
	for _, n := range append(sizes, 2, 1000) {
		r := mustRun(t, Options{
			Algorithm: algorithmOf(t, "ring"), Nodes: n, Initiators: []proto.NodeID{proto.NodeID(n)},
		})
		if r.Messages["total"] != 2*n || r.TransmissionTimes != 2*n {
			t.Errorf("N=%d: %v in %d transmission times", n, r.Messages, r.TransmissionTimes)
		}
		if int(r.Leader) != n {
			t.Errorf("N=%d: leader %d", n, r.Leader)
		}
	}
}

// Lecture notes: "Worst case occurs when the initiator is the ring successor of the
// would-be leader. (N-1) messages for Election message to get from Initiator to
// would-be coordinator, N messages for Election message to circulate around ring
// without message being changed, N messages for Elected message to circulate.
// Message complexity: (3N-1) messages. Completion time: (3N-1) message transmission
// times."
func TestRingWorstCase(t *testing.T) {
	for _, n := range append(sizes, 2, 1000) {
		r := mustRun(t, Options{Algorithm: algorithmOf(t, "ring"), Nodes: n, Initiators: []proto.NodeID{1}})
		want := Counts{"ELECTION": 2*n - 1, "ELECTED": n, "total": 3*n - 1}
		if r.Messages.String() != want.String() || r.TransmissionTimes != 3*n-1 {
			t.Errorf("N=%d: %v in %d transmission times", n, r.Messages, r.TransmissionTimes)
		}
	}
}

// Lecture notes: "Number of Election messages = N-1 + N-2 + ... + 1 = (N-1)*N/2",
// those to the dead leader included; "Worst-case completion time: 5 message
// transmission times, when the process with the lowest id in the system detects
// the failure."
func TestBullyWorstCase(t *testing.T) {
	for _, n := range append(sizes, 1000) {
		r := mustRun(t, Options{
			Algorithm: algorithmOf(t, "bully"), Nodes: n,
			Initiators: []proto.NodeID{1}, Crashed: []proto.NodeID{proto.NodeID(n)}, Detector: None,
		})
		if r.Messages["ELECTION"] != (n-1)*n/2 || r.TransmissionTimes != 5 {
			t.Errorf("N=%d: %v in %d transmission times", n, r.Messages, r.TransmissionTimes)
		}
		if int(r.Leader) != n-1 {
			t.Errorf("N=%d: leader %d", n, r.Leader)
		}
	}
}

// Lecture notes: "Best-case: second-highest id detects leader failure. Sends (N-2)
// Coordinator messages. Completion time: 1 message transmission time."
func TestBullyBestCase(t *testing.T) {
	for _, n := range append(sizes, 1000) {
		r := mustRun(t, Options{
			Algorithm: algorithmOf(t, "bully"), Nodes: n,
			Initiators: []proto.NodeID{proto.NodeID(n - 1)}, Crashed: []proto.NodeID{proto.NodeID(n)}, Detector: None,
		})
		want := Counts{"COORDINATOR": n - 2, "total": n - 2}
		if r.Messages.String() != want.String() || r.TransmissionTimes != 1 {
			t.Errorf("N=%d: %v in %d transmission times", n, r.Messages, r.TransmissionTimes)
		}
	}
}

// Lecture notes: "The result of an election should not depend on which process
// calls for it."
func TestAnyInitiatorElectsTheBest(t *testing.T) {
	for _, name := range catalog.Names() {
		for initiator := range proto.NodeID(5) {
			r := mustRun(t, Options{
				Algorithm: algorithmOf(t, name), Nodes: 6, Initiators: []proto.NodeID{initiator + 1},
				Crashed: []proto.NodeID{6}, Detector: Perfect,
			})
			if r.Leader != 5 {
				t.Errorf("%s: leader %d", r.Repro, r.Leader)
			}
		}
	}
}

// A shuffled ring is another for another seed, and the result says which.
func TestShuffle(t *testing.T) {
	o := Options{Algorithm: algorithmOf(t, "ring"), Nodes: 20, AllInitiate: true, Shuffle: true}
	first := mustRun(t, o)
	o.Seed++
	second := mustRun(t, o)
	if len(first.Drawn) != 1 || slices.Equal(first.Drawn, second.Drawn) {
		t.Errorf("drew %v, then %v", first.Drawn, second.Drawn)
	}
}

func mustBatch(t *testing.T, o Options, runs int) Summary {
	t.Helper()
	s, err := Batch(context.Background(), o, runs, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Violations {
		t.Errorf("%s: %v", v.Repro, v.Violation)
	}
	return s
}
