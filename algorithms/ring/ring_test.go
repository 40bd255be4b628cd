package ring_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// silence is how long a follower of five waits for the leader's next
// announcement.
const silence = 3 * 14 * delta

func newRig(t *testing.T, self proto.NodeID) *steptest.Rig {
	return steptest.New(t, self, false, ring.New)
}

// follower is node self of five, following leader 5 in term 1; it has passed
// 5's ELECTED on long ago.
func follower(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := newRig(t, self)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(delta, r.From(self-1, 1, topology.Elected{Leader: steptest.Peer(5), Hops: 3}))
	r.Want(algorithms.Output{
		Save: steptest.Save(1),
		Send: []proto.Message{
			r.Msg(self+1, 1, topology.Elected{Leader: steptest.Peer(5), Hops: 4}),
		},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("nomination.adopt(1, 0)", "nomination.follow(5, 1)"),
	})
	r.Step(20*delta, algorithms.Timeout{})
	return r
}

// An announcement goes no further than twice round, whoever is missing.
func TestAnnouncementGoesNoFurther(t *testing.T) {
	r := newRig(t, 3)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Gives(delta, r.From(2, 1, topology.Elected{Leader: steptest.Peer(5), Hops: 13}),
		"nomination.adopt(1, 0)", "nomination.follow(5, 1)", "topology.far(ELECTED, 13)")
	if len(r.Last.Send) > 0 {
		t.Errorf("passed it on: %v", r.Last.Send)
	}
}

func election(initiator, best proto.NodeID, hops uint64) ring.Election {
	return ring.Election{Initiator: initiator, Best: steptest.Peer(best), Hops: hops}
}

// "Any process pi that discovers the old coordinator has failed initiates an
// Election message that contains pi's own id:attr."
func TestInitiator(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 2, election(3, 3, 1))},
		Deadline: r.In(2 * 4 * delta),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("nomination.call(nomination.gone(5), 2)"),
	})
}

// "Process N talks to process N+1 % N": the last one's successor is the first,
// be it the furthest that can be.
func TestRingCloses(t *testing.T) {
	for first, alive := range map[proto.NodeID][]proto.NodeID{1: {1, 2, 3, 4}, 3: {3, 4}} {
		r := follower(t, 4)
		r.Step(0, steptest.Alive(alive...))
		if len(r.Last.Send) != 1 || r.Last.Send[0].To != first {
			t.Fatalf("among %v the successor of 4 is %d, got %+v", alive, first, r.Last.Send)
		}
	}
}

// The rules for an arriving ELECTION, each by its sentence.
func TestCompare(t *testing.T) {
	tests := []struct {
		rule    string
		arrives ring.Election
		passes  proto.Body // nil: dropped
		why     string
	}{
		{
			"If the arrived attr is greater, pi forwards the message.",
			election(2, 4, 1), election(2, 4, 2),
			"ring.above(4)",
		},
		{
			"If the arrived attr is smaller and pi has not forwarded an election message " +
				"earlier, it overwrites the message with its own id:attr, and forwards it.",
			election(2, 2, 1), election(2, 3, 2),
			"ring.below(2)",
		},
	}
	for _, tt := range tests {
		r := follower(t, 3)
		r.Step(0, r.From(2, 2, tt.arrives))
		r.Want(algorithms.Output{
			Send:     []proto.Message{r.Msg(4, 2, tt.passes)},
			Deadline: r.In(2 * 5 * delta),
			Leader:   steptest.Leads(0, 2),
			Why:      steptest.Why("nomination.adopt(2, 1)", tt.why),
		})
	}
}

// A smaller candidate that comes after this node's own is dropped: two lecture
// notes leave this unsaid, and without it the message circulates for ever.
func TestSmallerAfterOwnIsDropped(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 2, 1)))
	deadline := r.Last.Deadline
	r.Step(delta, r.From(2, 2, election(2, 2, 6)))
	r.Want(algorithms.Output{
		Deadline: deadline,
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("ring.below-passed(2)"),
	})
}

// "If the arrived id:attr matches that of pi, then pi's attr must be the
// greatest (why?), and it becomes the new coordinator. This process then sends
// an Elected message to its neighbor with its id."
func TestOwnCandidateComesBack(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, r.From(3, 2, election(4, 4, 4)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, 2, topology.Elected{Leader: steptest.Peer(4), Hops: 1})},
		Deadline: r.In(5 * delta),
		Leader:   steptest.Leads(4, 2),
		Why:      steptest.Why("nomination.lead(ring.back, 2)"),
	})

	r.Step(delta, r.From(3, 2, topology.Elected{Leader: steptest.Peer(4), Hops: 4}))
	if len(r.Last.Send) != 0 || steptest.Texts(r.Last.Why)[0] != "topology.home(ELECTED)" {
		t.Fatalf("ELECTED must stop at the leader: %+v", r.Last)
	}
}

// ELECTED that does not come home was lost on its way: the leader tells all.
func TestElectedIsLost(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, r.From(3, 2, election(4, 4, 4)))
	r.Fire()
	var told []proto.Message
	for _, id := range []proto.NodeID{1, 2, 3} {
		told = append(told, r.Msg(id, 2, topology.Elected{Leader: steptest.Peer(4)}))
	}
	r.Want(algorithms.Output{
		Send:     told,
		Deadline: r.Last.Deadline,
		Leader:   steptest.Leads(4, 2),
		Why:      steptest.Why("topology.not-home(ELECTED)"),
	})
}

// "Each process suppresses Election/Elected messages of any lower-id
// initiators. Updates cache if receives higher-id initiator's Election/Elected
// message."
func TestMultipleInitiators(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	deadline := r.Last.Deadline
	r.Step(0, r.From(2, 2, election(2, 2, 1)))
	r.Want(algorithms.Output{
		Deadline: deadline,
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("ring.suppress(2, 3)"),
	})
	r.Step(0, r.From(2, 2, election(4, 2, 3)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 2, election(4, 3, 4))},
		Deadline: deadline,
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("ring.below(2)"),
	})
}

// "Any process, after receiving Election:80 message, can detect failure of N80
// via its own local failure detector. If so, start a new run of leader
// election."
func TestBestOfTheRoundDies(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 5, 4)))
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Save:     steptest.Save(3),
		Send:     []proto.Message{r.Msg(4, 3, election(3, 3, 1))},
		Deadline: r.In(2 * 4 * delta),
		Leader:   steptest.Leads(0, 3),
		Why:      steptest.Why("nomination.call(nomination.best-dead(5), 3)"),
	})
}

// "Or if it gets an (Elected:80) message, but knows 80 has failed."
func TestElectedIsKnownToBeDead(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 4, 2)))
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, r.From(2, 2, topology.Elected{Leader: steptest.Peer(5), Hops: 3}))
	if want := "nomination.call(nomination.elected-dead(5), 3)"; steptest.Texts(r.Last.Why)[0] != want {
		t.Fatalf("got %q, want %q", steptest.Texts(r.Last.Why), want)
	}
}

// When a successor dies, what was sent to it last goes to the next one at once.
func TestRingRepair(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 5, 2)))
	r.Step(delta, steptest.Alive(1, 2, 3, 5))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(5, 2, election(2, 5, 3))},
		Deadline: r.In(2*5*delta - delta),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("topology.again(successor, 4, ELECTION)"),
	})
}

// "Receives an election message but times out waiting for an elected message":
// the successor is asked once who leads, then a new round starts.
func TestNoElected(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 5, 2)))
	r.Fire()
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 2, election(3, 3, 1))},
		Deadline: r.In(topology.AskTimeout(delta)),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("topology.ask-successor(topology.late(ELECTED, \"two trips round\"))"),
	})
	r.Fire()
	want := "nomination.call(topology.late(ELECTED, \"two trips round\"), 3)"
	if steptest.Texts(r.Last.Why)[0] != want {
		t.Fatalf("got %q, want %q", steptest.Texts(r.Last.Why), want)
	}
}

// An ELECTION of a term that has its leader: the late initiator is told.
func TestLateInitiatorIsTold(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 1, election(1, 2, 2)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, 1, topology.Elected{Leader: steptest.Peer(5)})},
		Deadline: r.In(silence - 20*delta),
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("topology.tell-initiator(5, 1, 1)"),
	})
}

// An orphan, which nobody stops, ends after two trips.
func TestHopLimit(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 5, 13)))
	if len(r.Last.Send) != 0 || r.Last.Deadline.IsZero() {
		t.Fatalf("want no message, and a timer: %+v", r.Last)
	}
}

// A node that stands aside passes on what others send, and never wins.
func TestAsideForwards(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, algorithms.Resign{})
	r.Step(0, r.From(2, 2, election(2, 2, 1)))
	if len(r.Last.Send) != 1 || r.Last.Send[0].Body != election(2, 2, 2) {
		t.Fatalf("want the message passed on unchanged: %+v", r.Last)
	}
}

// "An equal one handled once per (sender, kind, content)": a repeated ELECTION
// goes no further.
func TestRepeatedElectionGoesNoFurther(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(2, 2, election(2, 4, 1)))
	deadline := r.Last.Deadline
	r.Step(delta, r.From(2, 2, election(2, 4, 1)))
	r.Want(algorithms.Output{
		Deadline: deadline,
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("ring.passed-before(4)"),
	})
}

// A candidate that this node's successor lies beyond cannot win: ELECTION from
// here on never reaches it.
func TestBestIsNotOnThisRing(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 5))
	r.Step(0, r.From(2, 2, ring.Election{
		Initiator: 2, Best: proto.Peer{ID: 4, Incarnation: steptest.Incarnation(4), Attr: 9}, Hops: 1,
	}))
	if len(r.Last.Send) != 1 || r.Last.Send[0].Body != election(2, 3, 2) {
		t.Fatalf("want 3 in its place: %+v", r.Last)
	}
}

// A ring of one: its only node leads.
func TestAlone(t *testing.T) {
	r := newRig(t, 3)
	r.Start(0, 3)
	r.Fire()
	if r.Last.Leader != steptest.Leads(3, 1) {
		t.Fatalf("got %+v", r.Last)
	}
}

// A node that is none of this one's ring would win what never comes home to it.
func TestOffTheRing(t *testing.T) {
	r := newRig(t, 3)
	r.Start(0, 1, 2, 3, 5)
	r.Step(0, algorithms.Campaign{Reason: "test"})
	r.Gives(0, r.From(2, 2, election(1, 4, 2)), "nomination.adopt(2, 1)", "ring.off-ring(4)")
	r.Sends(r.Last, r.Msg(5, 2, election(1, 3, 3)))
}
