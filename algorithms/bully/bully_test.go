package bully_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// silence is how long a follower waits for the leader's next announcement.
const silence = 3 * 10 * delta

func newRig(t *testing.T, self proto.NodeID) *steptest.Rig {
	return steptest.New(t, self, true, bully.New)
}

// follower is node self of five, following leader 5 in term 1.
func follower(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := newRig(t, self)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(delta, r.From(5, 1, nomination.Coordinator{Leader: steptest.Peer(5)}))
	r.Want(algorithms.Output{
		Save:     steptest.Save(1),
		Deadline: r.In(silence),
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("nomination.adopt(1, 0)", "nomination.follow(5, 1)"),
	})
	return r
}

// leader5 is node 5 of five, leading term 1.
func leader5(t *testing.T) *steptest.Rig {
	r := newRig(t, 5)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Fire()
	if r.Last.Leader != steptest.Leads(5, 1) {
		t.Fatalf("node 5 does not lead: %+v", r.Last)
	}
	return r
}

func coordinators(r *steptest.Rig, term proto.Term, to ...proto.NodeID) []proto.Message {
	var msgs []proto.Message
	for _, id := range to {
		msgs = append(msgs, r.Msg(id, term, nomination.Coordinator{Leader: steptest.Peer(r.Self)}))
	}
	return msgs
}

// "If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message."
func TestNextInLineAssumesLeadershipAtOnce(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Send:     coordinators(r, 2, 1, 2, 3),
		Deadline: r.In(bully.Patience(delta, 5)),
		Leader:   steptest.Leads(4, 2),
		Why: steptest.Why(
			"nomination.call(nomination.gone(5), 2)",
			"nomination.lead(bully.next-in-line, 2)",
		),
	})
}

// "Else, you're not next-in-line: Send ELECTION to all higher-ranked
// processes." The leader that was lost is asked too: the detector may be wrong.
func TestNotNextInLineAsksAllHigher(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	election := bully.Election{Candidate: steptest.Peer(2)}
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(3, 2, election), r.Msg(4, 2, election), r.Msg(5, 2, election),
		},
		Deadline: r.In(2 * delta),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("nomination.call(nomination.gone(5), 2)"),
	})
}

// "If no one responds within timeout: Assume Leadership (broadcast
// COORDINATOR)".
func TestNoOKInTimeAssumesLeadership(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Fire()
	r.Want(algorithms.Output{
		Send:     coordinators(r, 2, 1, 3, 4),
		Deadline: r.In(bully.Patience(delta, 5)),
		Leader:   steptest.Leads(2, 2),
		Why:      steptest.Why("nomination.lead(bully.no-ok, 2)"),
	})
}

// "Else, someone responded: Wait for COORDINATOR message. If timeout waiting:
// Re-send ELECTION messages"; "If none received after another timeout, start a
// new election run."
func TestOKButNoCoordinator(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, r.From(4, 2, bully.OK{}))
	r.Want(algorithms.Output{
		Deadline: r.In(bully.CoordinatorTimeout(delta)),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("bully.wait(4)"),
	})

	r.Fire()
	election := bully.Election{Candidate: steptest.Peer(3)}
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 2, election), r.Msg(5, 2, election)},
		Deadline: r.In(bully.CoordinatorTimeout(delta)),
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("bully.ask-again"),
	})

	r.Fire()
	r.Want(algorithms.Output{
		Save:     steptest.Save(3),
		Send:     []proto.Message{r.Msg(4, 3, election), r.Msg(5, 3, election)},
		Deadline: r.In(bully.OKTimeout(delta)),
		Leader:   steptest.Leads(0, 3),
		Why:      steptest.Why("nomination.call(bully.no-coordinator, 3)"),
	})
}

// "A process that receives an Election message replies with OK message, and
// starts its own leader election protocol (unless it has already done so)".
func TestElectionFromLower(t *testing.T) {
	r := follower(t, 3)
	election := bully.Election{Candidate: steptest.Peer(3)}
	r.Step(0, r.From(1, 2, bully.Election{Candidate: steptest.Peer(1)}))
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(1, 2, bully.OK{}), r.Msg(4, 2, election), r.Msg(5, 2, election),
		},
		Deadline: r.In(2 * delta),
		Leader:   steptest.Leads(0, 2),
		Why: steptest.Why(
			"nomination.adopt(2, 1)", "bully.below(1)",
		),
	})

	deadline := r.Last.Deadline
	r.Step(delta/2, r.From(2, 2, bully.Election{Candidate: steptest.Peer(2)}))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(2, 2, bully.OK{})},
		Deadline: deadline,
		Leader:   steptest.Leads(0, 2),
		Why:      steptest.Why("bully.below(2)"),
	})
}

// A sitting leader that is asked in its own term says OK and who leads: it
// does not elect itself again.
func TestSittingLeaderAnswers(t *testing.T) {
	r := leader5(t)
	deadline := r.Last.Deadline
	r.Step(delta, r.From(1, 1, bully.Election{Candidate: steptest.Peer(1)}))
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(1, 1, bully.OK{}),
			r.Msg(1, 1, nomination.Coordinator{Leader: steptest.Peer(5)}),
		},
		Deadline: deadline,
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("bully.asks-leader(1, 1)"),
	})
}

// A follower that knows the leader of the term passes that on: a node that
// cannot reach the leader itself does not go on calling elections.
func TestFollowerTellsWhoLeads(t *testing.T) {
	r := follower(t, 3)
	r.Step(delta, r.From(1, 1, bully.Election{Candidate: steptest.Peer(1)}))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, 1, nomination.Coordinator{Leader: steptest.Peer(5)})},
		Deadline: r.In(silence - delta),
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("nomination.knows(1, 5, 1)"),
	})
	r.Step(silence-2*delta, r.From(1, 1, bully.Election{Candidate: steptest.Peer(1)}))
	r.Want(algorithms.Output{
		Deadline: r.In(delta),
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("nomination.knows-unheard(1, 5)"),
	})
}

// Crash of the would-be leader: the last higher node dies after its OK.
func TestHigherNodeDiesAfterOK(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, r.From(4, 2, bully.OK{}))
	r.Step(delta, steptest.Alive(1, 2, 3))
	r.Want(algorithms.Output{
		Send:     coordinators(r, 2, 1, 2),
		Deadline: r.In(bully.Patience(delta, 5)),
		Leader:   steptest.Leads(3, 2),
		Why:      steptest.Why("nomination.lead(bully.higher-gone, 2)"),
	})
}

// Ranks are (attribute, id): the attribute decides first, and a node that
// ranks below the one that asks does not answer.
func TestElectionFromHigherAttributeIsNotAnswered(t *testing.T) {
	r := follower(t, 3)
	strong := steptest.Peer(1)
	strong.Attr = 99
	r.Step(0, r.From(1, 2, bully.Election{Candidate: strong}))
	if len(r.Last.Send) != 0 || r.Last.Deadline.IsZero() {
		t.Fatalf("want no answer and a timer, got %+v", r.Last)
	}
}

// The attribute is frozen for the term.
func TestAttributeIsFrozenForTheTerm(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3, 4)) // asks 4 and 5
	moved := steptest.Peers(1, 2, 3, 4)
	moved[2].Attr = 1000
	r.Step(0, algorithms.PeersChanged{Alive: moved})
	if r.Last.Leader.ID != 0 {
		t.Fatal("a live attribute changed a round under way")
	}
	r.Step(0, algorithms.Campaign{Reason: "asked"}) // one round at a time
	r.Step(delta, r.From(4, 2, nomination.Coordinator{Leader: steptest.Peer(4)}))
	r.Step(0, algorithms.Campaign{Reason: "asked"})
	if r.Last.Leader != steptest.Leads(3, 3) {
		t.Fatalf("the next term must use the new attribute: %+v", r.Last)
	}
}

// With pre-emption a higher-ranked node that follows calls an election after
// the hold-down; without, it follows while the leader lives.
func TestPreemptionIsAChoice(t *testing.T) {
	for _, preempt := range []bool{true, false} {
		r := steptest.New(t, 5, preempt, bully.New)
		r.Start(0, 4, 5)
		r.Step(0, r.From(4, 7, nomination.Coordinator{Leader: steptest.Peer(4)}))
		if !preempt {
			if r.Last.Deadline != r.In(silence) || r.Last.Leader != steptest.Leads(4, 7) {
				t.Fatalf("without pre-emption: %+v", r.Last)
			}
			continue
		}
		r.Fire()
		r.Want(algorithms.Output{
			Send:     coordinators(r, 8, 4),
			Deadline: r.In(bully.Patience(delta, 2)),
			Leader:   steptest.Leads(5, 8),
			Why: steptest.Why(
				"nomination.call(nomination.preempt(4), 8)",
				"nomination.lead(bully.next-in-line, 8)",
			),
		})
	}
}

// A node that resigned does not answer, does not stand, and follows.
func TestResignedNodeStandsAside(t *testing.T) {
	r := leader5(t)
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 1, nomination.TimeoutNow{})},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(0, 1),
		Why:      steptest.Why("nomination.hand-over(nomination.resign, 4)"),
	})
	r.Step(0, r.From(1, 2, bully.Election{Candidate: steptest.Peer(1)}))
	if len(r.Last.Send) != 0 {
		t.Fatalf("a node that stands aside answered: %+v", r.Last)
	}
	r.Step(0, r.From(4, 2, nomination.Coordinator{Leader: steptest.Peer(4)}))
	r.Want(algorithms.Output{
		Deadline: r.In(bully.Patience(delta, 5)),
		Leader:   steptest.Leads(4, 2),
		Why:      steptest.Why("nomination.follow(4, 2)"),
	})
	r.Fire() // no pre-emption: the term is written down, that is all
	r.Want(algorithms.Output{
		Save:     steptest.Save(2),
		Deadline: r.In(silence - bully.Patience(delta, 5)),
		Leader:   steptest.Leads(4, 2),
	})
}

// An equal message handled twice, a spurious Timeout, a foreign kind: nothing
// new comes of them.
func TestRepeatsAndStrangersChangeNothing(t *testing.T) {
	r := follower(t, 3)
	quiet := algorithms.Output{Deadline: r.In(silence), Leader: steptest.Leads(5, 1)}
	r.Step(0, r.From(5, 1, nomination.Coordinator{Leader: steptest.Peer(5)}))
	r.Want(quiet)
	r.Step(delta, algorithms.Timeout{})
	r.Want(quiet)
	r.Step(0, r.From(1, 1, bully.OK{}))
	r.Want(quiet)
	r.Step(0, r.From(1, 1, steptest.Foreign{}))
	quiet.Why = steptest.Why("bully.foreign(FOREIGN)")
	quiet.Warn = true
	r.Want(quiet)
}

// ELECTION goes to those above its candidate: one from above needs no OK.
func TestElectionFromAbove(t *testing.T) {
	r := newRig(t, 2)
	r.Start(0, 1, 2, 3)
	r.Gives(0, r.From(3, 1, bully.Election{Candidate: steptest.Peer(3)}), "nomination.adopt(1, 0)", "bully.above(3)")
	r.Sends(r.Last)
}
