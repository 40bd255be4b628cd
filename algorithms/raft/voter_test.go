package raft_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A request that is refused changes nothing": the term of a higher one is not adopted,
// and the leader is followed on.
func TestHigherTermIsNotAdopted(t *testing.T) {
	r := following1(t, nil)
	follows := r.Last.Leader
	r.Step(delta, r.request(2, 9, 1))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Deny(2, 1, 1, proto.DeniedPromised, 3)},
		Deadline: follows.Until, Leader: follows, Round: 1,
		Why: steptest.Why("lease.deny-promised(2, 9, 3)"),
	})
	r.Step(delta, r.heartbeat(3, 1, 8, lease))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.ack(3, 1, 8)},
		Deadline: r.Now.Add(lease.Truncate(1000)), Leader: r.Leads(3, 1, lease.Truncate(1000)), Round: 1,
	})
}

// PRE_VOTE "changes nothing but who is told when a no becomes a yes".
func TestPreVote(t *testing.T) {
	r := following1(t, nil)
	follows := r.Last.Leader
	r.Step(0, r.preVote(2, 2, 4))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Answer(2, 1, 4, proto.DeniedPromised, 3)},
		Deadline: follows.Until, Leader: follows, Round: 1,
		Why: steptest.Why("lease.no-promised(2, 2, 3)"),
	})
	r.Step(delta, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Answer(2, 1, 4, proto.NotDenied, 0)},
		Deadline: r.In(turn), // 2 ranks above it, 3 is gone
		Leader:   algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why(
			"lease.freed(3)", "lease.leader-dead(3)",
			"lease.yes(2, 2)",
		),
	})
}

// RELEASE counts for the very process and term that got the vote. "The vote stays".
func TestRelease(t *testing.T) {
	r := voted1(t, nil)
	r.Unmoved(0, r.Release(3, 2), "lease.release-foreign(3, 2)")
	r.Step(0, r.Release(3, 1))
	r.Want(algorithms.Output{
		Deadline: r.In(2 * turn), Round: 1,
		Why: steptest.Why("lease.release(3, 1)"),
	})
	r.Step(0, r.request(2, 1, 1))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Deny(2, 1, 1, proto.DeniedVoted, 3)},
		Deadline: r.In(2 * turn), Round: 1,
		Why: steptest.Why("lease.deny-voted(2, 1, 3)"),
	})
	r.Step(0, r.request(3, 1, 8)) // its own term it has given back
	if r.Last.Save != nil || r.Last.Send[0] != r.Deny(3, 1, 8, proto.DeniedVoted, 3) {
		t.Errorf("%+v", r.Last)
	}
}

// "After a proof, a RELEASE or a start […] each stands in its turn": the leader that
// released its term has none, although it lives.
func TestNobodyWaitsForWhoReleased(t *testing.T) {
	r := following1(t, nil)
	r.Step(0, r.Release(3, 1))
	r.Want(algorithms.Output{
		Deadline: r.In(turn), Leader: algorithms.Leader{Term: 1}, Round: 1, // 2 ranks above it
		Why: steptest.Why(
			"lease.release(3, 1)", "lease.leader-released(3)",
		),
	})
}

// "While the last leader's successor is to take over, nobody else is told yes", but in a moment.
func TestSuccessorIsAnsweredFirst(t *testing.T) {
	r := following1(t, nil)
	r.Step(0, r.From(3, 1, proto.Release{Incarnation: steptest.Incarnation(3), Successor: 2}))
	r.Step(0, r.preVote(3, 2, 9))
	if !slices.Contains(steptest.Texts(r.Last.Why), "lease.favors(3, 2, 2)") || len(r.Last.Send) > 0 {
		t.Errorf("%+v", r.Last)
	}
	r.Step(0, r.preVote(2, 2, 4))
	if len(r.Last.Send) != 1 || r.Last.Send[0] != r.Answer(2, 1, 4, 0, 0) {
		t.Errorf("%+v", r.Last)
	}
	r.Fire() // its own turn comes first, and it gives way
	r.Fire()
	if !slices.Contains(r.Last.Send, r.Answer(3, 1, 9, 0, 0)) {
		t.Errorf("%+v", r.Last)
	}
}

// "That is over when this voter votes, or when the successor is proven dead."
func TestNobodyWaitsForADeadSuccessor(t *testing.T) {
	for _, leads := range []bool{false, true} {
		r := following1(t, nil)
		r.Step(0, r.From(3, 1, proto.Release{Incarnation: steptest.Incarnation(3), Successor: 2}))
		term := proto.Term(1)
		if leads {
			r.Step(0, r.request(2, 2, 4))
			term = 2
		}
		r.Step(0, algorithms.PeerProvenDead{ID: 2, Incarnation: steptest.Incarnation(2)})
		r.Step(0, r.preVote(3, 3, 9))
		if !slices.Contains(r.Last.Send, r.Answer(3, term, 9, 0, 0)) {
			t.Errorf("it led %v: %+v", leads, r.Last)
		}
	}
}

// "After a start for as long as any promise of its former life may run", but the process
// that has the vote gets the promise anew.
func TestBootWait(t *testing.T) {
	r := newRig(t, 1, nil)
	r.Step(0, algorithms.Start{Saved: *voted(1, 3)})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Want(algorithms.Output{Deadline: r.In(start + 2*turn), Round: 1})
	r.Step(0, r.request(2, 2, 1))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Deny(2, 1, 1, proto.DeniedStarted, 0)},
		Deadline: r.In(start + 2*turn), Round: 1,
		Why: steptest.Why("lease.deny-started(2, 2)"),
	})
	r.Step(boot-1, r.request(3, 1, 9))
	r.wantPatient(algorithms.Output{Send: []proto.Message{r.vote(3, 1, 9)}, Round: 1, Why: r.Last.Why})
}

// "The boot wait comes last: a node that nothing else binds may stand in it", and not one
// that has given the leader its promise anew since.
func TestPromisedInItsBootWait(t *testing.T) {
	r := newRig(t, 1, nil)
	r.Step(0, algorithms.Start{Saved: *voted(1, 3)})
	r.Step(0, r.heartbeat(3, 1, 7, lease))
	r.Fire() // its lease has ended
	r.Step(0, algorithms.Campaign{Reason: "called"})
	r.Step(0, r.Yes(2, 1))
	if r.Step(0, r.Yes(3, 1)); r.Last.Save != nil {
		t.Errorf("claims in its promise to 3: %+v", r.Last)
	}
	if r.Step(promise-lease, algorithms.Timeout{}); r.Last.Save == nil || r.Now.Sub(steptest.Zero) >= boot {
		t.Errorf("does not claim when that is over, %v after its start: %+v", r.Now.Sub(steptest.Zero), r.Last)
	}
}

// In it a candidate does not reckon its own vote as possible: of three voters one no is enough for "a
// candidate that cannot win any more" to give back what it was promised, also after the
// end of the boot wait in which it asked.
func TestCannotWinInItsBootWait(t *testing.T) {
	for _, asked := range []time.Duration{start, boot - delta} {
		r := newRig(t, 3, nil)
		r.Step(0, algorithms.Start{Saved: *voted(4, 1)})
		r.Step(0, steptest.Alive(1, 2, 3))
		r.Fire()
		r.Step(0, r.Yes(1, 1))
		r.Step(asked-start, r.Yes(2, 1))
		r.Step(2*delta, r.denied(2, 4, 2, proto.DeniedStands))
		if len(steptest.Texts(r.Last.Why)) != 2 {
			t.Fatalf("asked %v after its start: %+v", asked, r.Last)
		}
		r.WantSoon(4*delta, algorithms.Output{
			Send: r.All(5, proto.Release{Incarnation: steptest.Incarnation(3)}), Round: 5, Why: r.Last.Why,
		})
	}
}

// A HEARTBEAT of a term in which it has not voted gets the vote, durably, when nothing
// binds the voter; and is followed even when something does.
func TestHeartbeatOfANewTerm(t *testing.T) {
	r := follower1(t, nil)
	r.Step(0, r.heartbeat(2, 4, 3, lease))
	r.Want(algorithms.Output{
		Save: voted(4, 2), Send: []proto.Message{r.ack(2, 4, 3)},
		Deadline: r.Now.Add(lease.Truncate(1000)), Leader: r.Leads(2, 4, lease.Truncate(1000)), Round: 4,
		Why: steptest.Why(
			"lease.follow(2, 4)",
			"lease.vote(2, 4)",
		),
	})
	r = voted1(t, nil)
	r.Step(0, r.heartbeat(2, 4, 3, lease))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.DenyAnew(2, 1, 3, proto.DeniedPromised, 3)},
		Deadline: r.Now.Add(lease.Truncate(1000)), Leader: r.Leads(2, 4, lease.Truncate(1000)), Round: 4,
		Why: steptest.Why("lease.follow(2, 4)", "lease.deny-promised(2, 4, 3)"),
	})
}

// "A higher term stands": a late HEARTBEAT undoes nothing.
func TestLateHeartbeat(t *testing.T) {
	r := following1(t, nil)
	follows := r.Last.Leader
	r.Step(0, r.heartbeat(2, 0, 3, lease))
	if r.Last.Leader != follows || r.Last.Save != nil {
		t.Errorf("%+v", r.Last)
	}
	r.Step(0, r.From(3, 1, proto.Heartbeat{Leader: steptest.Peer(2), Remaining: lease}))
	if !r.Last.Warn || r.Last.Leader != follows {
		t.Errorf("%+v", r.Last)
	}
}

// Strangers and absurd terms are refused.
func TestStrangers(t *testing.T) {
	r := voted1(t, nil)
	for why, ev := range map[string]algorithms.Event{
		"lease.stranger(REQUEST_VOTE, 9, 1)":           r.request(9, 2, 1),
		"lease.stranger(HEARTBEAT, 9, 1)":              r.heartbeat(9, 2, 1, lease),
		"lease.absurd(1099511627776, 1, REQUEST_VOTE)": r.request(2, 1<<40, 1),
		"lease.foreign(FOREIGN)":                       r.From(2, 1, steptest.Foreign{}),
	} {
		out := r.Gives(0, ev, why)
		says := slices.ContainsFunc(out.Send, func(m proto.Message) bool { return m.Body.Kind() != proto.KindRecover })
		if !out.Warn || says || out.Save != nil || out.Leader.ID != 0 {
			t.Errorf("%+v: %+v", ev, out)
		}
	}
}

// One that does not vote follows, promises nothing and never stands.
func TestNonVoter(t *testing.T) {
	r := newRig(t, 4, nil)
	r.Start(0, 1, 2, 3, 4)
	r.Want(algorithms.Output{})
	r.Step(0, r.heartbeat(3, 1, 7, lease))
	r.Want(algorithms.Output{
		Deadline: r.Now.Add(lease.Truncate(1000)), Leader: r.Leads(3, 1, lease.Truncate(1000)), Round: 1,
		Why: steptest.Why("lease.follow(3, 1)"),
	})
	r.Fire()
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why("lease.not-renewed(3)"),
	})
}
