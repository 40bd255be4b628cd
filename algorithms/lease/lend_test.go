package lease_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// ByAnyClock is how much of a lease that lasts for d a process with any clock may count.
func ByAnyClock(d time.Duration) time.Duration {
	return d / (1_000_000 + lease.Drift) * (1_000_000 - lease.Drift)
}

// lending is the heartbeat of a leader that is to lend its lease.
func lending(id proto.NodeID, nonce uint64, left time.Duration) proto.Heartbeat {
	return proto.Heartbeat{
		Leader: steptest.Peer(id), Nonce: nonce, Remaining: left.Truncate(time.Microsecond), Lent: true,
	}
}

// "The leader asks for the promises anew in a round of questions that says so, and lends
// what a majority promised in that very round."
func TestLends(t *testing.T) {
	r := holder3(t)
	r.Step(delta, algorithms.Lend{})
	r.Want(algorithms.Output{
		Send:     r.All(1, lending(3, 3, leased-2*delta)),
		Deadline: r.In(promise / 4),
		Leader:   r.Leads(3, 1, leased-2*delta), // the lease of the claim
		Round:    1,
	})
	r.Unmoved(0, algorithms.Lend{}, "") // what comes of it is for both
	r.Step(delta, r.granted(2, 1, 3))
	left := leased - delta
	r.Want(algorithms.Output{
		Deadline: r.In(promise/4 - delta),
		Leader:   r.Leads(3, 1, left),
		Round:    1,
		Lent:     &algorithms.LendEnd{For: ByAnyClock(left), Until: r.Now.Add(left)},
	})
	r.Unmoved(0, r.granted(1, 1, 3), "") // one answer
	r.Fire()
	if b, ok := r.Last.Send[0].Body.(proto.Heartbeat); !ok || b.Nonce != 4 || b.Lent {
		t.Errorf("the next heartbeat says that it is to be lent: %+v", r.Last.Send)
	}
}

// A round that is under way said nothing of it: what comes of that is not lent.
func TestLendsTheNextRound(t *testing.T) {
	r := holder3(t)
	r.Fire() // HEARTBEAT, the third question
	r.Unmoved(delta, algorithms.Lend{}, "")
	r.Step(delta, r.granted(2, 1, 3))
	if r.Last.Lent != nil || r.Last.Send[len(r.Last.Send)-1].Body != proto.Body(lending(3, 4, leased-2*delta)) {
		t.Errorf("granted a round that is not lent: %+v", r.Last)
	}
	r.Step(delta, r.granted(1, 1, 4))
	if r.Last.Lent == nil || !r.Last.Lent.Until.Equal(r.Now.Add(leased-delta)) {
		t.Errorf("granted a round that is: %+v", r.Last)
	}
}

// "Lends no more": who does not lead, and who hands over; and who led when it was asked
// says so when it leads no more.
func TestLendsNothing(t *testing.T) {
	refuses := func(r *rig, words string) {
		t.Helper()
		if got := r.Last.Lent; got == nil || got.Refused != words {
			t.Errorf("%+v, want %q", got, words)
		}
	}
	r := voter1(t, nil)
	r.Step(0, algorithms.Lend{})
	refuses(r, "nobody leads; ask again once a node does")
	if len(steptest.Texts(r.Last.Why)) > 0 { // else the log of whoever is asked again and again is full of it
		t.Errorf("a refusal that decides nothing gives reasons: %v", steptest.Texts(r.Last.Why))
	}

	r = holder3(t)
	r.Step(0, algorithms.Transfer{To: 2})
	r.Step(0, algorithms.Lend{})
	refuses(r, "a transfer to 2 is under way; wait until it is over, and ask again if another shall lead")

	r = holder3(t)
	r.Step(0, algorithms.Lend{})
	r.Fire()
	r.Fire()
	r.Fire()
	refuses(r, "the leader leads no more; ask again once a node does")
}

// "Who promised in it keeps that promise whatever is proven, and is free before its end
// only by the RELEASE"; "renewals that say nothing of it take nothing from that".
func TestKeepsThePromiseOfALoan(t *testing.T) {
	lent := func() *rig {
		r := granted(t, nil)
		r.Step(delta, r.From(3, 1, lending(3, 8, leased)))
		r.Step(promise/2, r.renew(3, 1, 9))
		return r
	}
	r := lent()
	kept := r.Now.Add(promise / 2)
	r.Step(delta, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Step(delta, r.ask(2, 2, 1))
	if want := r.Msg(2, 1, proto.PreVoteReply{
		Incarnation: steptest.Incarnation(2), Nonce: 1, Answer: proto.Answer{Denial: proto.DeniedPromised, To: 3},
	}); r.Last.Send[0] != want || !r.Last.Deadline.Equal(kept) {
		t.Errorf("proven dead, it had lent its lease: %+v; free at %v, want %v", r.Last.Send, r.Last.Deadline, kept)
	}
	r.Fire()
	if len(r.Last.Send) == 0 || r.Last.Send[0].Body != proto.Body(
		proto.PreVoteReply{Incarnation: steptest.Incarnation(2), Nonce: 1}) {
		t.Errorf("the lease has ended: %+v", r.Last)
	}

	r = lent()
	r.Step(delta, r.From(3, 1, proto.Release{Incarnation: steptest.Incarnation(3)}))
	r.Step(delta, r.ask(2, 2, 1))
	if b, ok := r.Last.Send[0].Body.(proto.PreVoteReply); !ok || !b.Granted() {
		t.Errorf("released, so all that was lent is over: %+v", r.Last.Send)
	}
}
