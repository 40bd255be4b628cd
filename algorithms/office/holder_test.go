package office_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// RENEW "every third of a promise", with a new round of questions and a lease that
// runs from its beginning. A grant of the round before does not make it longer.
func TestRenews(t *testing.T) {
	r := holder3(t)
	was := r.Last.Leader
	r.Fire()
	r.Want(algorithms.Output{
		Send:     r.All(1, proto.Renew{Session: steptest.Session(3), Nonce: 3}),
		Deadline: r.In(promise / 3),
		Leader:   was,
		Round:    1,
	})
	due := r.Last.Deadline
	r.Unmoved(delta, r.granted(2, 1, 2), "")
	r.Step(0, r.granted(2, 1, 3))
	r.Want(algorithms.Output{
		Send:     r.All(1, r.announcement(lease-delta)),
		Deadline: due,
		Leader:   r.Leads(3, 1, lease-delta),
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
		Send:     r.All(1, proto.Renew{Session: steptest.Session(3), Nonce: 4}),
		Deadline: was.Until,
		Leader:   was,
		Round:    1,
	})
	r.Fire()
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1},
		Round:  1,
		Why:    steptest.Why("the lease ran out -> leave the office of term 1"),
	})
	r.Unmoved(0, r.granted(1, 1, 4), "")
}

// "On a busy machine answers take longer than from one round to the next: one that comes
// late counts for its own round, and for a lease from when that began."
func TestLateGrantsKeepTheOffice(t *testing.T) {
	const way = promise/3 + delta
	r := holder3(t)
	r.Fire() // the first RENEW
	for nonce := uint64(3); nonce < 100; nonce++ {
		due := r.Last.Deadline
		r.Fire()
		renew := r.All(1, proto.Renew{Session: steptest.Session(3), Nonce: nonce + 1})
		if !r.Now.Equal(due) || !slices.Equal(r.Last.Send, renew) {
			t.Fatalf("round %d: %+v", nonce+1, r.Last)
		}
		r.Step(way-promise/3, r.granted(2, 1, nonce))
		r.Want(algorithms.Output{
			Send:     r.All(1, r.announcement(lease-way)),
			Deadline: due.Add(promise / 3), Leader: r.Leads(3, 1, lease-way), Round: 1,
		})
	}
}

// "… for its own round": of one that has former holders fenced too, which keeps its
// promises, and leads no sooner for it.
func TestLateGrantsKeepTheRightToFence(t *testing.T) {
	const way = promise/3 + delta
	r := fencing3(t)
	r.renews(t, 3)
	for nonce := uint64(3); nonce < 20; nonce++ {
		r.renews(t, nonce+1)
		r.Step(way-promise/3, r.granted(1, 2, nonce))
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
		Leader: nobody, Round: 1, Why: steptest.Why("asked to resign -> leave the office of term 1"),
	})
	r.Unmoved(promise, r.claim(2, 2, 1),
		"2 wants term 2 -> deny it: no, stands itself 3", r.Deny(2, 1, 1, proto.BarSelf, 3))
	r.Unmoved(0, r.ask(2, 2, 2),
		"2 asks for term 2 -> no, stands itself 3", r.Answer(2, 1, 2, proto.BarSelf, 3))
	r.Unmoved(0, algorithms.Idle{Term: 7}, "") // of another office
	r.Step(0, algorithms.Idle{Term: 1})
	r.Want(algorithms.Output{
		Send: append(r.All(1, proto.Release{Session: steptest.Session(3)}),
			r.Answer(2, 1, 2, proto.NoBar, 0)),
		Leader: nobody,
		Round:  1,
		Why: steptest.Why(
			"the work of term 1 has stopped -> release it", "2 asked for term 2 -> yes",
		),
	})
	r.Unmoved(0, algorithms.Idle{Term: 1}, "")
}

// A candidate that is asked to resign gives back what it got.
func TestResignsAsACandidate(t *testing.T) {
	r := asking3(t)
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{Round: 1})

	r = claiming3(t)
	r.Step(0, algorithms.Resign{})
	r.Want(algorithms.Output{
		Send: r.All(1, proto.Release{Session: steptest.Session(3)}), Round: 1, Why: r.Last.Why,
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
	r.Unmoved(delta, steptest.Alive(1, 2, 3, 4), "", r.Msg(4, 1, r.announcement(lease-2*delta)))
}

// A node follows who announces that it holds the office, for as long as that says
// and no longer than any lease; a voter who is told so asks no more.
func TestFollows(t *testing.T) {
	r := asking3(t)
	r.Step(delta, r.holds(2, 2, 2*promise))
	r.Want(algorithms.Output{
		Deadline: r.In(lease),
		Leader:   r.Leads(2, 2, lease),
		Round:    2,
		Why:      steptest.Why("2 holds the office, term 2 -> follow it"),
	})
	r.Step(delta, r.holds(2, 2, lease/2)) // it renewed
	r.Want(algorithms.Output{
		Deadline: r.In(lease / 2), Leader: r.Leads(2, 2, lease/2), Round: 2,
	})
	due, was := r.Last.Deadline, r.Last.Leader
	r.Unmoved(0, r.holds(1, 1, lease), "LEASE of term 1 is below term 2 -> drop it")
	for why, ev := range map[string]algorithms.Event{
		"1 announces that 2 holds the office -> drop it": r.From(1, 2, proto.Lease{
			Leader: steptest.Peer(2), Remaining: lease,
		}),
		"4 announces that 4 holds the office -> drop it": r.holds(4, 9, lease),
		"3 announces that 3 holds the office -> drop it": r.holds(3, 9, lease),
	} {
		r.Step(0, ev)
		r.Want(algorithms.Output{Deadline: due, Leader: was, Round: 2, Warn: true, Why: steptest.Why(why)})
	}
}

// What the dead, or who released its term, announced late is not believed.
func TestLeaseOfTheGone(t *testing.T) {
	r := granted(t, nil)
	r.Step(delta, r.holds(3, 1, lease))
	r.Step(0, r.Release(3, 1))
	r.Want(algorithms.Output{
		Deadline: r.Last.Deadline,
		Leader:   algorithms.Leader{Term: 1},
		Round:    1,
		Why: steptest.Why(
			"3 releases term 1 -> the promise to it is over",
			"leader 3 released the office -> nobody holds the office",
		),
	})
	r.Unmoved(0, r.holds(3, 1, lease), "3 is gone or released term 1 -> drop its LEASE")

	r = newRig(t, 4, nil)
	r.Begin()
	r.Step(0, r.holds(3, 1, lease))
	r.Step(0, algorithms.Gone{ID: 3, Session: steptest.Session(3)})
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why("leader 3 is proven dead -> nobody holds the office"),
	})
	r.Unmoved(0, r.holds(3, 1, lease), "3 is gone or released term 1 -> drop its LEASE")
}

// Two that hold: the higher term stands, the other leaves.
func TestMeetsAHigherOffice(t *testing.T) {
	r := holder3(t)
	r.Step(0, r.holds(2, 2, lease))
	r.Want(algorithms.Output{
		Deadline: r.In(lease),
		Leader:   r.Leads(2, 2, lease),
		Round:    2,
		Why: steptest.Why(
			"2 holds the office -> leave the office of term 1",
			"2 holds the office, term 2 -> follow it",
		),
	})
	r = claiming3(t)
	r.Step(0, r.holds(2, 2, lease))
	if r.Last.Leader.ID != 2 || len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindRelease {
		t.Errorf("%+v", r.Last)
	}
}

// A holder hands over to a nominee that ranks above it, once that was the better
// choice for two promises on end, in its office.
func TestHandsOver(t *testing.T) {
	r := claiming3(t)
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(0, r.granted(1, 1, 2))
	r.nominate(0, 4, 2) // no voter
	due := r.Last.Deadline
	r.Want(algorithms.Output{Deadline: due, Leader: r.Leads(3, 1, lease), Round: 2})

	r = holder3(t)
	was := r.Last.Leader
	r.nominate(0, 2, 2) // ranks below it
	r.Want(algorithms.Output{Deadline: r.Last.Deadline, Leader: was, Round: 2})
	if in := r.Last.Deadline.Sub(r.Now); in != promise/3-delta {
		t.Errorf("wakes in %v, to hand over?", in)
	}

	for _, before := range []bool{false, true} { // it takes office
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
			Why:    steptest.Why("3 would take over -> leave the office of term 1"),
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
