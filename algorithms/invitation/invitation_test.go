package invitation_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/invitation"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// calls is node self of four, which calls an election of the term it returns.
func calls(t *testing.T, self proto.NodeID) (*steptest.Rig, proto.Term) {
	r := steptest.New(t, self, false, invitation.New)
	r.Start(0, 1, 2, 3, 4)
	out := r.Step(0, algorithms.Campaign{Reason: "test"})
	return r, out.Leader.Term
}

func ask(id proto.NodeID) invitation.AreYouCoordinator {
	return invitation.AreYouCoordinator{Self: steptest.Peer(id)}
}

func group(id proto.NodeID) invitation.Group { return invitation.Group{Coordinator: steptest.Peer(id)} }

func invite(id proto.NodeID) invitation.Invitation {
	return invitation.Invitation{Coordinator: steptest.Peer(id)}
}
func ready(id proto.NodeID) invitation.Ready { return invitation.Ready{Leader: steptest.Peer(id)} }

// "The coordinator leads those that accepted, and tells nobody else."
func TestLeadsThoseThatAccepted(t *testing.T) {
	r, term := calls(t, 4)
	r.Sends(r.Last, r.Msg(1, term, invite(4)), r.Msg(2, term, invite(4)), r.Msg(3, term, invite(4)))
	r.Step(0, r.From(1, term, invitation.Accept{}))
	r.Step(0, r.From(1, term, invitation.Accept{})) // again
	r.Sends(r.Step(0, r.From(3, term, invitation.Accept{})))
	r.Fire()
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, term, ready(4)), r.Msg(3, term, ready(4))},
		Deadline: r.In(nomination.AnnounceEvery(delta, invitation.Patience(delta, 4))),
		Leader:   steptest.Leads(4, term),
		Why:      steptest.Why("nomination.lead(invitation.accepted, 1)"),
	})
	r.Sends(r.Step(0, r.From(2, term, invitation.Accept{})), r.Msg(2, term, ready(4))) // late
}

// Nobody is waited for when all are there, or dead.
func TestLeadsAtOnceWhenAllAccepted(t *testing.T) {
	r, term := calls(t, 4)
	r.Step(0, r.From(1, term, invitation.Accept{}))
	r.Step(0, r.From(3, term, invitation.Accept{}))
	r.Sends(r.Step(0, steptest.Alive(1, 3, 4)), r.Msg(1, term, ready(4)), r.Msg(3, term, ready(4)))
}

// "A node that lost its coordinator forms a group of itself, and asks all others
// whether they are coordinators"; "a coordinator that found others waits before it
// merges, the less the higher it ranks".
func TestChecksAndWaits(t *testing.T) {
	r, term := calls(t, 2)
	r.Sends(r.Last, r.Msg(1, term, ask(2)), r.Msg(3, term, ask(2)), r.Msg(4, term, ask(2)))
	r.Step(0, r.From(3, term, group(3)))
	r.Step(0, r.From(3, term, group(3))) // again
	r.Step(0, r.From(1, term, group(1)))
	r.Step(0, r.From(4, term, group(4)))
	r.Want(algorithms.Output{
		Deadline: r.In(invitation.Turn(delta, 2)),
		Leader:   steptest.Leads(0, term),
		Why:      steptest.Why("invitation.yield(invitation.answered, 2)"),
	})
	r.Sends(r.Fire(), r.Msg(1, term, invite(2)), r.Msg(3, term, invite(2)), r.Msg(4, term, invite(2)))
}

// Whoever does not answer, or does not stand, has no turn.
func TestMergesWhenNobodyAboveAnswers(t *testing.T) {
	r, term := calls(t, 2)
	aside := group(4)
	aside.Coordinator.Ineligible = true
	r.Step(0, r.From(4, term, aside))
	r.Step(0, r.From(1, term, group(1)))
	r.Sends(r.Fire(), r.Msg(1, term, invite(2)), r.Msg(3, term, invite(2)), r.Msg(4, term, invite(2)))
}

// A node that did not notice is in a group of its own from then on. The highest invites
// at once.
func TestIsAsked(t *testing.T) {
	r, term := calls(t, 3)
	r.Sends(r.Step(0, r.From(1, term+1, ask(1))), r.Msg(1, term+1, group(3)))
	r, term = calls(t, 4)
	r.Sends(r.Step(0, r.From(1, term+1, ask(1))),
		r.Msg(1, term+1, invite(4)), r.Msg(2, term+1, invite(4)), r.Msg(3, term+1, invite(4)))
	r.Sends(r.Step(0, r.From(2, term+1, ask(2))), r.Msg(2, term+1, group(4)))
}

// "Whoever is invited accepts", and "a coordinator that is invited passes the
// invitation on to its members".
func TestAcceptsWithItsMembers(t *testing.T) {
	r, term := calls(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, r.From(1, term, invitation.Accept{}))
	out := r.Step(0, r.From(4, term, invite(4)))
	r.Sends(out, r.Msg(1, term, invite(4)), r.Msg(4, term, invitation.Accept{}))
	if out.Deadline != r.In(invitation.ReadyTimeout(delta)) {
		t.Errorf("waits for %v", out.Deadline.Sub(r.Now))
	}
	r.Sends(r.Step(0, r.From(2, term, invitation.Accept{})), r.Msg(2, term, invite(4))) // too late for 3
	r.Sends(r.Step(0, r.From(1, term, ask(1))), r.Msg(1, term, group(4)))
}

// "Sends one that comes late where this node has gone: once, or two that have joined each
// other send it to and fro."
func TestSendsOnOnce(t *testing.T) {
	r, term := calls(t, 3)
	sendsOn := func() int {
		n := 0
		for _, m := range r.Step(0, r.From(1, term, invitation.Accept{})).Send {
			if m.To == 1 && m.Body.Kind() == invitation.KindInvitation {
				n++
			}
		}
		return n
	}
	for _, coordinator := range []proto.NodeID{4, 5} {
		r.Step(0, r.From(coordinator, term, invite(coordinator)))
		for late := range 3 {
			if got, want := sendsOn(), max(0, 1-late); got != want {
				t.Errorf("in the group of %d, late for the %d. time: sent on %d times, want %d",
					coordinator, late+1, got, want)
			}
		}
	}
}

// A member that hears nothing asks, and then forms a group of itself, of the next term.
func TestNoReady(t *testing.T) {
	r, term := calls(t, 3)
	r.Step(0, r.From(4, term, invite(4)))
	r.Sends(r.Fire(), r.Msg(4, term, ask(3)))
	if out := r.Fire(); out.Leader.Term != term+1 || len(out.Send) != 3 {
		t.Errorf("no group of its own: %+v", out)
	}
	term++
	r.Step(0, r.From(4, term, invite(4)))
	r.Sends(r.Step(0, steptest.Alive(1, 2, 3)), r.Msg(1, term+1, invite(3)), r.Msg(2, term+1, invite(3)))
}

// The highest coordinator merges: nobody leaves a group for a lower one.
func TestInvitedByALowerNode(t *testing.T) {
	r, term := calls(t, 4)
	r.Sends(r.Step(0, r.From(3, term, invite(3))))
	r.Sends(r.Step(0, r.From(3, term+1, invite(3))),
		r.Msg(1, term+1, invite(4)), r.Msg(2, term+1, invite(4)), r.Msg(3, term+1, invite(4)))
	r, term = calls(t, 1)
	r.Step(0, r.From(4, term, invite(4)))
	r.Sends(r.Step(0, r.From(3, term, invite(3))))
}

// One that stands aside joins whoever invites, and says that it does not stand.
func TestStandsAside(t *testing.T) {
	r, term := calls(t, 4)
	r.Step(0, algorithms.Resign{})
	mine := group(4)
	mine.Coordinator.Ineligible = true
	r.Sends(r.Step(0, r.From(3, term, ask(3))), r.Msg(3, term, mine))
	r.Sends(r.Step(0, r.From(3, term, invite(3))), r.Msg(3, term, invitation.Accept{}))
}

// The turns of those above are three Δ each, and not for ever.
func TestTurn(t *testing.T) {
	if a, b := invitation.Turn(delta, 1), invitation.Turn(delta, 99); a != 3*delta || b != 12*delta {
		t.Errorf("one above: %v, 99: %v", a, b)
	}
}
