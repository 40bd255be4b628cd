package raft_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Who cannot win any more gives the term back at once, and never asks for it again.
func TestSplitVote(t *testing.T) {
	r := candidate3(t)
	r.Step(delta, r.denied(1, 0, 2, proto.DeniedStands))
	r.Want(algorithms.Output{
		Deadline: r.In(7 * delta), Round: 1, Why: steptest.Why("lease.says-stands(1, 0)"),
	})
	r.Step(0, r.denied(2, 0, 2, proto.DeniedStarted))
	if len(steptest.Texts(r.Last.Why)) != 2 {
		t.Fatalf("%+v", r.Last)
	}
	r.WantSoon(4*delta, algorithms.Output{
		Send: r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}), Round: 1, Why: r.Last.Why,
	})
	r.Fire()
	r.WantSoon(4*delta, algorithms.Output{
		Send: r.All(2, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 3}), Round: 2,
		Why: steptest.Why("lease.ask(raft.failed, 2)"),
	})
}

// A leader asks for the promises anew every quarter of one. "A leader that no majority
// acknowledges steps down": two rounds, and then it keeps to its lease.
func TestCheckQuorum(t *testing.T) {
	r := leader3(t)
	end := r.Last.Leader.Until
	r.Fire()
	r.Want(algorithms.Output{
		Send:     r.All(1, r.says(3, end.Sub(r.Now))),
		Deadline: r.In(beat), Leader: r.Leads(3, 1, end.Sub(r.Now)), Round: 1,
	})
	noted := r.Now
	r.Step(delta, r.acked(1, 1, 3))
	end = noted.Add(lease)
	r.Want(algorithms.Output{Deadline: r.In(beat - delta), Leader: r.Leads(3, 1, end.Sub(r.Now)), Round: 1})
	r.Fire()
	r.Fire()
	if len(r.Last.Send) != 2 {
		t.Fatalf("the second round: %+v", r.Last)
	}
	r.Fire()
	r.Want(algorithms.Output{
		Deadline: end, Leader: r.Leads(3, 1, end.Sub(r.Now)), Round: 1,
		Why: steptest.Why("lease.no-majority(2)"),
	})
	r.Fire()
	r.wantPatient(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1,
		Why: steptest.Why("lease.step-down(lease.ran-out, 1)"),
	})
	r.Step(delta, r.request(2, 2, 1)) // its work has not stopped
	if r.Last.Send[0] != r.Deny(2, 1, 1, proto.DeniedStands, 3) {
		t.Errorf("%+v", r.Last)
	}
	r.Step(delta, algorithms.WorkStopped{Term: 1})
	if want := r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}); len(r.Last.Send) != 2 ||
		r.Last.Send[0] != want[0] || r.Last.Send[1] != want[1] {
		t.Errorf("%+v", r.Last)
	}
}

// "After two rounds without a majority it asks no more": those count that followed the
// latest round that was answered, however late the answer came.
func TestLateAnswerLeavesTwoRounds(t *testing.T) {
	r := leader3(t)
	r.Fire() // round 3
	r.Fire() // round 4
	r.Step(delta, r.acked(1, 1, 3))
	if r.Fire(); len(r.Last.Send) != 2 {
		t.Fatalf("the second round after it: %+v", r.Last)
	}
	r.Fire()
	if why := []string{"lease.no-majority(2)"}; len(r.Last.Send) > 0 ||
		!slices.Equal(steptest.Texts(r.Last.Why), why) {
		t.Errorf("a third: %+v", r.Last)
	}
}

// "On a busy machine answers take longer than from one round to the next: one that comes
// late counts for its own round, and for a lease from when that began." So who leads goes
// on while answers take twice as long as that, and when it had asked no more.
func TestLateAnswersKeepTheLead(t *testing.T) {
	for _, way := range []time.Duration{beat + delta, 2*beat + delta} {
		r := leader3(t)
		r.Fire()
		type answer struct {
			at    time.Time
			nonce uint64
		}
		var under []answer
		for began := r.Now; r.Now.Sub(began) < 20*promise; {
			if len(r.Last.Send) > 0 {
				under = append(under, answer{r.Now.Add(way), r.Last.Send[0].Body.(proto.Heartbeat).Nonce})
			}
			if len(under) > 0 && under[0].at.Before(r.Last.Deadline) {
				r.Step(under[0].at.Sub(r.Now), r.acked(1, 1, under[0].nonce))
				under = under[1:]
			} else {
				r.Fire()
			}
			if r.Last.Leader.ID != 3 || r.Last.Leader.Until.After(r.Now.Add(lease)) {
				t.Fatalf("answers take %v, %v on: %+v", way, r.Now.Sub(began), r.Last)
			}
		}
	}
}

// "A candidate leads with the votes of a majority", given ever more time for them after
// each that failed for want of it.
func TestCandidateIsPatient(t *testing.T) {
	r := candidate3(t)
	r.Fire() // no vote came in time
	r.Fire() // it asks again
	r.Step(0, r.Yes(1, 3))
	if in := r.Last.Deadline.Sub(r.Now); in != lease/2 || r.Last.Save == nil {
		t.Errorf("it waits %v, want %v: %+v", in, lease/2, r.Last)
	}
}

// A refusal, and the higher term in it, costs a leader nothing: it keeps to its lease.
func TestRefusalDeposesNobody(t *testing.T) {
	r := leader3(t)
	leads, due := r.Last.Leader, r.Last.Deadline
	r.Step(0, r.denied(1, 7, 2, proto.DeniedVoted))
	r.Want(algorithms.Output{
		Deadline: due, Leader: leads, Round: 7, Why: steptest.Why("lease.says-voted(1, 0)"),
	})
}

// "A candidate that hears of a leader of its term, or a higher one, follows it", and of a
// lower one does not.
func TestCandidateFollows(t *testing.T) {
	r := candidate3(t)
	r.Step(0, r.heartbeat(2, 2, 1, lease))
	if r.Last.Leader.ID != 2 || r.Last.Save != nil || len(r.Last.Send) != 2 {
		t.Errorf("%+v", r.Last)
	}
	r = candidate3(t)
	r.Step(0, r.heartbeat(2, 0, 1, lease))
	if r.Last.Leader.ID != 0 || r.Last.Send[0] != r.DenyAnew(2, 1, 1, proto.DeniedStands, 3) {
		t.Errorf("%+v", r.Last)
	}
}

// "When a server crashes or is silent", followers wait a random time longer than any
// promise; when the leader is proven dead, each waits its turn.
func TestTimeouts(t *testing.T) {
	for self, after := range map[proto.NodeID]time.Duration{2: 0, 1: turn} {
		r := newRig(t, self, nil)
		r.Start(0, 1, 2, 3)
		r.Step(0, r.request(3, 1, 7))
		r.Step(0, r.heartbeat(3, 1, 7, lease))
		r.Fire() // the belief ends
		if in := r.Last.Deadline.Sub(r.Now) + lease; in < boot || in >= boot+promise/2 {
			t.Errorf("%d waits %v", self, in)
		}
		r.Step(0, r.heartbeat(3, 1, 8, lease))
		r.Step(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
		if self == 2 {
			if len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindPreVote {
				t.Errorf("the best does not stand at once: %+v", r.Last)
			}
			continue
		}
		if in := r.Last.Deadline.Sub(r.Now); in != after {
			t.Errorf("%d waits %v for its turn, want %v", self, in, after)
		}
	}
}

// A transfer: OFFER, REPLY; the leader leads no more; when its work has stopped, RELEASE,
// and only then TIMEOUT_NOW.
func TestTransfer(t *testing.T) {
	r := leader3(t)
	leads := r.Last.Leader
	r.Step(0, algorithms.Transfer{To: 1})
	offer := proto.Offer{Incarnation: steptest.Incarnation(3), Nonce: 1, To: steptest.Incarnation(1)}
	r.Want(algorithms.Output{
		Send: []proto.Message{r.Msg(1, 1, offer)}, Deadline: r.In(beat - delta), Leader: leads, Round: 1,
		Why: steptest.Why("lease.hand-over(1)"),
	})
	r.Step(delta, r.From(1, 1, proto.Reply{Incarnation: steptest.Incarnation(3), Nonce: 1}))
	r.wantPatient(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1, Transfer: &algorithms.TransferEnd{To: 1},
		Why: steptest.Why("lease.step-down(lease.takes-over(1), 1)"),
	})
	r.Step(delta, algorithms.WorkStopped{Term: 1})
	if n := len(r.Last.Send); n != 3 || r.Last.Send[2].Body.Kind() != proto.KindTakeOver || r.Last.Send[2].To != 1 {
		t.Errorf("%+v", r.Last)
	}
}

// The successor stands at once, and asks first.
func TestTakeOver(t *testing.T) {
	r := following1(t, nil)
	takeOver := proto.TakeOver{Incarnation: steptest.Incarnation(3), To: steptest.Incarnation(1), Chosen: true}
	r.Step(0, r.From(3, 1, takeOver))
	r.WantSoon(4*delta, algorithms.Output{
		Send:   r.All(2, proto.PreVote{Incarnation: steptest.Incarnation(1), Nonce: 1}),
		Leader: algorithms.Leader{Term: 1}, Round: 2,
		Why: steptest.Why(
			"lease.handed(3, 2)", "lease.leader-left(3)",
			"lease.ask(lease.chosen, 2)",
		),
	})
	r = following1(t, nil)
	takeOver.To = steptest.Incarnation(9)
	r.Step(0, r.From(3, 1, takeOver))
	if len(r.Last.Send) > 0 || r.Last.Leader.ID != 3 {
		t.Errorf("a former life was meant: %+v", r.Last)
	}
}

// One that may not lead leaves, and stands no more; it votes.
func TestEligible(t *testing.T) {
	r := leader3(t)
	r.Step(0, algorithms.Eligible{Why: "a check fails"})
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 1}, Round: 1, Ineligible: "a check fails",
		Why: steptest.Why(`lease.step-down(lease.ineligible("a check fails"), 1)`),
	})
	r.Step(0, algorithms.WorkStopped{Term: 1})
	if !r.Last.Deadline.IsZero() {
		t.Errorf("it would stand: %+v", r.Last)
	}
	r.Step(0, r.request(2, 2, 1))
	if r.Last.Save == nil {
		t.Errorf("it does not vote: %+v", r.Last)
	}
	r = leader3(t)
	leads := r.Last.Leader
	if r.Step(0, algorithms.Eligible{Keep: true, Why: "paused"}); r.Last.Leader != leads {
		t.Errorf("it is to lead on: %+v", r.Last)
	}
}

// With preference, a node that has ranked above the leader for long is offered to lead.
func TestPrefer(t *testing.T) {
	for preempt, want := range map[bool]int{true: 1, false: 0} {
		r := newRig(t, 2, func(c *algorithms.Config) { c.Preempt = preempt })
		r.Start(0, 1, 2)
		r.Fire()
		r.Step(0, r.Yes(1, 1))
		r.Step(0, r.granted(1, 1, 2))
		r.Step(0, steptest.Alive(1, 2, 3))
		offers, began := 0, r.Now
		for nonce := uint64(3); r.Now.Sub(began) < 2*promise+beat; nonce++ {
			r.Fire()
			for _, m := range r.Last.Send {
				if m.Body.Kind() == proto.KindOffer {
					offers++
				}
			}
			r.Step(0, r.acked(1, 1, nonce))
		}
		if offers != want {
			t.Errorf("preference %v: %d offers", preempt, offers)
		}
	}
}

// "LeaseExpired says that the lease of Term had run out before its renewal took effect: it
// leads Term no more."
func TestLeaseExpired(t *testing.T) {
	r := leader3(t)
	r.Unmoved(0, algorithms.LeaseExpired{Term: 7}, "")
	out := r.Gives(0, algorithms.LeaseExpired{Term: 1}, "lease.step-down(lease.ran-out-unseen, 1)")
	if out.Leader.ID != 0 {
		t.Errorf("leads on: %+v", out)
	}
}
