package broadcast_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/broadcast"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// called is node self of three, which 1 sent its ID to in term 2.
func called(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, broadcast.New)
	r.Start(0, 1, 2, 3)
	if self == 3 {
		r.Fire() // it takes term 1
	} else {
		r.Step(0, r.From(3, 1, nomination.Coordinator{Leader: steptest.Peer(3)}))
	}
	r.Step(delta, r.From(1, 2, id(1)))
	return r
}

func id(of proto.NodeID) broadcast.Identity { return broadcast.Identity{Self: steptest.Peer(of)} }

func toAll(r *steptest.Rig, term proto.Term, body proto.Body) []proto.Message {
	var all []proto.Message
	for to := proto.NodeID(1); to <= 3; to++ {
		if to != r.Self {
			all = append(all, r.Msg(to, term, body))
		}
	}
	return all
}

// "Upon receiving this message, every process broadcast its ID to every other
// process."
func TestSendsItsIDToAll(t *testing.T) {
	r := called(t, 2)
	r.Want(algorithms.Output{
		Send:     toAll(r, 2, id(2)),
		Deadline: r.In(2 * delta),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("nomination.adopt(2, 1)", "broadcast.id(1)"),
	})
	again := r.Step(0, r.From(1, 2, id(1)))
	if len(again.Send) > 0 {
		t.Errorf("the same ID again was answered: %v", again.Send)
	}
}

// "After receiving all IDs, each process decides the process with the largest ID is
// the leader."
func TestDecidesAfterAllIDs(t *testing.T) {
	r := called(t, 3)
	r.Step(delta, r.From(2, 2, id(2)))
	r.Want(algorithms.Output{
		Send:     toAll(r, 2, nomination.Coordinator{Leader: steptest.Peer(3)}),
		Deadline: r.In(broadcast.Patience(delta, 3)),
		Leader:   steptest.Leads(3, 2),
		Why:      steptest.Why("nomination.lead(broadcast.largest(broadcast.all-here), 2)"),
	})

	r = called(t, 2)
	r.Step(delta, r.From(3, 2, id(3)))
	r.Want(algorithms.Output{
		Deadline: r.In(4 * delta),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("broadcast.wait(broadcast.all-here, 3)"),
	})
}

// Nobody waits for ever: for IDs, for COORDINATOR.
func TestWaitsEnd(t *testing.T) {
	r := called(t, 2)
	r.Fire() // 3 did not answer
	r.Want(algorithms.Output{
		Send:     toAll(r, 2, nomination.Coordinator{Leader: steptest.Peer(2)}),
		Deadline: r.In(broadcast.Patience(delta, 3)),
		Leader:   steptest.Leads(2, 2),
		Why:      steptest.Why("nomination.lead(broadcast.largest(broadcast.no-more), 2)"),
	})

	r = called(t, 2)
	r.Step(0, r.From(3, 2, id(3)))
	r.Fire() // 3 said nothing more
	if want := "nomination.call(broadcast.no-coordinator, 3)"; steptest.Texts(r.Last.Why)[0] != want {
		t.Errorf("%q, want %q", steptest.Texts(r.Last.Why), want)
	}
}

// Whoever waits for the largest to lead, and sees it die, decides anew.
func TestLargestDies(t *testing.T) {
	r := called(t, 2)
	r.Step(0, r.From(3, 2, id(3)))
	r.Step(delta, steptest.Alive(1, 2))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, 2, nomination.Coordinator{Leader: steptest.Peer(2)})},
		Deadline: r.In(broadcast.Patience(delta, 2)),
		Leader:   steptest.Leads(2, 2),
		Why:      steptest.Why("nomination.lead(broadcast.largest(broadcast.one-gone), 2)"),
	})
}

// One that stands aside sends no ID: it would be chosen.
func TestAsideSendsNoID(t *testing.T) {
	r := called(t, 3)
	r.Step(0, algorithms.Resign{})
	r.Step(0, r.From(1, 3, id(1)))
	if len(r.Last.Send) > 0 {
		t.Errorf("sends %v", r.Last.Send)
	}
}

// A message of another algorithm is refused, and flagged.
func TestRefusesOtherMessages(t *testing.T) {
	r := called(t, 2)
	if out := r.Step(0, r.From(1, 2, steptest.Foreign{})); !out.Warn || len(out.Send) > 0 {
		t.Errorf("took it: %+v", out)
	}
}
