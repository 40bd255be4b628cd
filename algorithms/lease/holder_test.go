package lease_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// HEARTBEAT "every quarter of a promise", with a new round of questions and a lease that
// runs from its beginning. A grant of the round before does not make it longer.
func TestRenews(t *testing.T) {
	r := holder3(t)
	was := r.Last.Leader
	r.Fire()
	r.Want(algorithms.Output{
		Send:     r.All(1, r.beat(3, leased-promise/4)),
		Deadline: r.In(promise / 4),
		Leader:   was,
		Round:    1,
	})
	due := r.Last.Deadline
	r.Unmoved(delta, r.granted(2, 1, 2), "")
	r.Step(0, r.granted(2, 1, 3))
	r.Want(algorithms.Output{
		Deadline: due,
		Leader:   r.Leads(3, 1, leased-delta),
		Round:    1,
	})
	r.Unmoved(0, r.granted(1, 1, 3), "") // says nothing new
}

// "After two rounds without a majority it asks no more. It keeps to its lease, and
// never renews after that." It leads no more in the Step in which that ends.
func TestTwoRoundsWithoutAMajority(t *testing.T) {
	r := holder3(t)
	was := r.Last.Leader
	r.Fire()
	r.Fire()
	r.Want(algorithms.Output{
		Send:     r.All(1, r.beat(4, leased-promise/2)),
		Deadline: r.In(promise / 4),
		Leader:   was,
		Round:    1,
	})
	r.Fire()
	r.Want(algorithms.Output{
		Deadline: was.Until, Leader: was, Round: 1, Why: steptest.Why("lease.no-majority(2)"),
	})
	r.Fire()
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1},
		Round:  1,
		Why:    steptest.Why("lease.step-down(lease.ran-out, 1)"),
	})
	r.Unmoved(0, r.granted(1, 1, 4), "")
}

// "On a busy machine answers take longer than from one round to the next: one that comes
// late counts for its own round, and for a lease from when that began."
func TestLateVotesKeepTheLead(t *testing.T) {
	const way = promise/4 + delta
	r := holder3(t)
	r.Fire() // the first HEARTBEAT of its own
	for nonce := uint64(3); nonce < 100; nonce++ {
		due := r.Last.Deadline
		r.Fire()
		left := r.Last.Leader.Until.Sub(r.Now)
		renew := r.All(1, r.beat(nonce+1, left))
		if !r.Now.Equal(due) || !slices.Equal(r.Last.Send, renew) {
			t.Fatalf("round %d: %+v", nonce+1, r.Last)
		}
		r.Step(way-promise/4, r.granted(2, 1, nonce))
		r.Want(algorithms.Output{
			Deadline: due.Add(promise / 4), Leader: r.Leads(3, 1, leased-way), Round: 1,
		})
	}
}

// "… for its own round": of one that has former holders fenced too, which keeps its
// promises, and leads no sooner for it.
func TestLateGrantsKeepTheRightToFence(t *testing.T) {
	const way = promise/4 + delta
	r := fencing3(t)
	r.renews(t, 3)
	for nonce := uint64(3); nonce < 20; nonce++ {
		r.renews(t, nonce+1)
		r.Step(way-promise/4, r.granted(1, 2, nonce))
		if r.Last.Leader.ID != 0 || r.Last.Fence == nil {
			t.Fatalf("round %d: %+v", nonce, r.Last)
		}
	}
}

// "Leaving: it leads no more; then its work stops; only then RELEASE." Until then
// its own voter is bound, and it does not stand again.
func TestLeaving(t *testing.T) {
	r := holder3(t)
	nobody := algorithms.Leader{Term: 1}
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{
		Leader: nobody, Round: 1, Why: steptest.Why("lease.step-down(lease.resign, 1)"),
	})
	r.Unmoved(promise, r.claim(2, 2, 1),
		"lease.deny-stands(2, 2, 3)", r.Deny(2, 1, 1, proto.DeniedStands, 3))
	r.Unmoved(0, r.ask(2, 2, 2),
		"lease.no-stands(2, 2, 3)", r.Answer(2, 1, 2, proto.DeniedStands, 3))
	r.Unmoved(0, algorithms.WorkStopped{Term: 7}, "") // of another leadership
	r.Step(0, algorithms.WorkStopped{Term: 1})
	r.Want(algorithms.Output{
		Send: append(r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}),
			r.Answer(2, 1, 2, proto.NotDenied, 0)),
		Leader: nobody,
		Round:  1,
		Why: steptest.Why(
			"lease.stopped(1)", "lease.yes(2, 2)",
		),
	})
	r.Unmoved(0, algorithms.WorkStopped{Term: 1}, "")
}

// "Whoever asks while it leads gets its HEARTBEAT": a voter that claimed a later term in vain dropped the last one, or
// it was lost. It need not wait for the next round, which is up to a quarter of a promise away.
func TestTellsWhoAsksThatItLeads(t *testing.T) {
	r := holder3(t)
	r.Step(delta, r.ask(2, 2, 2))
	r.Sends(r.Last, r.Answer(2, 1, 2, proto.DeniedStands, 3), r.Msg(2, 1, r.beat(2, leased-2*delta)))
	r.Step(delta, r.ask(2, 2, 3)) // the HEARTBEAT may have been lost
	r.Sends(r.Last, r.Answer(2, 1, 3, proto.DeniedStands, 3), r.Msg(2, 1, r.beat(2, leased-3*delta)))
}

// A candidate that is asked to resign gives back what it got.
func TestResignsAsACandidate(t *testing.T) {
	r := asking3(t)
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{Round: 1})

	r = claiming3(t)
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{
		Send: r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}), Round: 1, Why: r.Last.Why,
	})
	r.Step(0, algorithms.Campaign{}) // it stands again, after the pause
	r.Fire()
	if r.Last.Send[0].Term != 2 || r.Last.Send[0].Body.Kind() != proto.KindPreVote {
		t.Errorf("sent %v", r.Last.Send)
	}
}

// The holder tells each process that joins, and nobody else, that it leads.
func TestTellsWhoJoins(t *testing.T) {
	r := holder3(t)
	r.Unmoved(delta, steptest.Alive(1, 2, 3, 4), "", r.Msg(4, 1, r.beat(2, leased-2*delta)))
}

// A node follows who says that it leads, for as long as that says and no longer than any
// lease; a voter who is told so asks no more, and promises what binds it to nobody else.
func TestFollows(t *testing.T) {
	r := asking3(t)
	r.Step(delta, r.holds(2, 2, 2*promise))
	r.Want(algorithms.Output{
		Save:     voted(2, 2),
		Send:     []proto.Message{r.again(2, 2, 99)},
		Deadline: r.In(leased),
		Leader:   r.Leads(2, 2, leased),
		Round:    2,
		Why:      steptest.Why("lease.follow(2, 2)", "lease.vote(2, 2)"),
	})
	r.Step(delta, r.holds(2, 2, leased/2)) // the next heartbeat
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.again(2, 2, 99)},
		Deadline: r.In(leased / 2), Leader: r.Leads(2, 2, leased/2), Round: 2,
	})
	due, was := r.Last.Deadline, r.Last.Leader
	r.Step(0, r.holds(1, 1, leased))
	r.Want(algorithms.Output{
		Send: []proto.Message{r.DenyAnew(1, 2, 99, proto.DeniedPromised, 2)}, Deadline: due, Leader: was, Round: 2,
		Why: steptest.Why("lease.stale(1, 2)", "lease.deny-promised(1, 1, 2)"),
	})
	for why, ev := range map[string]algorithms.Event{
		"lease.announces-other(1, 2)": r.From(1, 2, proto.Heartbeat{
			Leader: steptest.Peer(2), Remaining: leased,
		}),
		"lease.stranger(HEARTBEAT, 4, 3)": r.holds(4, 9, leased),
		"lease.stranger(HEARTBEAT, 3, 3)": r.holds(3, 9, leased),
	} {
		r.Step(0, ev)
		r.Want(algorithms.Output{Deadline: due, Leader: was, Round: 2, Warn: true, Why: steptest.Why(why)})
	}
}

// What the dead, or who released its term, announced late is not believed.
func TestLeaseOfTheGone(t *testing.T) {
	r := granted(t, nil)
	r.Step(delta, r.holds(3, 1, leased))
	r.Step(0, r.Release(3, 1))
	r.Want(algorithms.Output{
		Deadline: r.Last.Deadline,
		Leader:   algorithms.Leader{Term: 1},
		Round:    1,
		Why: steptest.Why(
			"lease.release(3, 1)",
			"lease.leader-released(3)",
		),
	})
	r.Step(0, r.holds(3, 1, leased))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.DenyAnew(3, 1, 99, proto.DeniedVoted, 3)},
		Deadline: r.Last.Deadline, Leader: algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why("lease.gone(3, 1)", "lease.deny-released(3, 1)"),
	})

	r = newRig(t, 4, nil)
	r.Begin()
	r.Step(0, r.holds(3, 1, leased))
	r.Step(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why("lease.leader-dead(3)"),
	})
	r.Unmoved(0, r.holds(3, 1, leased), "lease.gone(3, 1)")
}

// Two that hold: the higher term stands, the other leaves.
func TestMeetsAHigherTerm(t *testing.T) {
	r := holder3(t)
	r.Step(0, r.holds(2, 2, leased))
	r.Want(algorithms.Output{
		Deadline: r.In(leased),
		Leader:   r.Leads(2, 2, leased),
		Round:    2,
		Why: steptest.Why(
			"lease.step-down(lease.leads(2), 1)",
			"lease.follow(2, 2)",
		),
	})
	r = claiming3(t)
	r.Step(0, r.holds(2, 2, leased))
	if r.Last.Leader.ID != 2 || len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindRelease {
		t.Errorf("%+v", r.Last)
	}
}

// A holder hands over to a nominee that ranks above it, once that was the better
// choice for two promises on end, as leader.
func TestHandsOver(t *testing.T) {
	r := claiming3(t)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(0, r.granted(1, 1, 2))
	r.nominate(0, 4, 2) // no voter
	due := r.Last.Deadline
	r.Want(algorithms.Output{Deadline: due, Leader: r.Leads(3, 1, leased), Round: 2})

	r = holder3(t)
	was := r.Last.Leader
	r.nominate(0, 2, 2) // ranks below it
	r.Want(algorithms.Output{Deadline: r.Last.Deadline, Leader: was, Round: 2})
	if in := r.Last.Deadline.Sub(r.Now); in != promise/4-delta {
		t.Errorf("wakes in %v, to hand over?", in)
	}

	for _, before := range []bool{false, true} { // it begins to lead
		r := newRig(t, 2, nil)
		r.Start(0, 1, 2, 3)
		r.nominate(0, 2, 1)
		r.Step(0, r.Yes(1, 1))
		if before {
			r.nominate(0, 3, 2)
		}
		r.Step(delta, r.granted(1, 1, 2))
		taken, nonce := r.Now, uint64(3)
		r.nominate(0, 3, 2)
		for r.Fire(); r.Last.Leader.ID == 2; r.Fire() {
			if len(r.Last.Send) == 1 {
				r.Step(0, r.replied(3, 1, 1, proto.NoDecline))
				break
			}
			r.Step(0, r.granted(1, 1, nonce))
			nonce++
		}
		r.Want(algorithms.Output{
			Leader: algorithms.Leader{Term: 1},
			Round:  2,
			Why:    steptest.Why("lease.step-down(lease.takes-over(3), 1)"),
		})
		if after := r.Now.Sub(taken); after != 2*promise {
			t.Errorf("handed over after %v", after)
		}
	}
}

// A Timeout before the Deadline changes nothing.
func TestSpuriousTimeout(t *testing.T) {
	for _, r := range []*rig{granted(t, nil), asking3(t), claiming3(t), holder3(t)} {
		r.Unmoved(1, algorithms.Timeout{}, "")
	}
}

// "A leader that did not run at the end says how long ago that was": its record is as late.
func TestSleptPastTheLease(t *testing.T) {
	r := holder3(t)
	end := r.Last.Leader.Until
	late := 5 * delta
	ago := late / 1_010_000 * 990_000 // by any clock
	r.Step(end.Sub(r.Now)+late, algorithms.Timeout{})
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Deadline: r.Last.Deadline, Round: 1,
		Why: steptest.Why(fmt.Sprintf("lease.step-down(lease.ran-out-late(%d), 1)", ago.Milliseconds())),
	})
}
