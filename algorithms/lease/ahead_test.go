package lease_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// contending3 is voter 3, whose nomination asks a majority for it in term 4, and that
// has asked the others.
func contending3(t *testing.T) *rig {
	r := newRig(t, 3, nil)
	r.Start(0, 1, 2, 3)
	r.contends = true
	r.nominate(delta, 0, 4)
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(4, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 1}),
		Round: 4,
		Why:   steptest.Why("lease.ask(lease.may-be-nominated, 4)"),
	})
	return r
}

// "The voters are asked at the same time": "the term is claimed once this node is
// nominated", and not before, whatever the voters say.
func TestAsksAhead(t *testing.T) {
	r := contending3(t)
	due := r.Last.Deadline
	r.Step(delta, r.Yes(1, 1))
	r.Want(algorithms.Output{Deadline: due, Round: 4})
	r.contends = false
	r.nominate(delta, 3, 4)
	r.Want(algorithms.Output{
		Save:     voted(4, 3),
		Send:     r.All(4, proto.RequestVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Deadline: r.In(8 * delta),
		Round:    4,
		Why:      steptest.Why("lease.candidate(4)"),
	})
}

// The nomination may be the faster one: then the question stands as it was asked.
func TestNominatedBeforeTheVotersAnswer(t *testing.T) {
	r := contending3(t)
	due := r.Last.Deadline
	r.contends = false
	r.nominate(delta, 3, 4)
	r.Want(algorithms.Output{Deadline: due, Round: 4})
	r.Step(delta, r.Yes(1, 1))
	if len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindRequestVote {
		t.Errorf("sent %v", r.Last.Send)
	}
}

// "And asks no more when another is nominated": a yes that comes later does nothing.
func TestAskedAheadForNothing(t *testing.T) {
	r := contending3(t)
	r.contends = false
	r.nominate(delta, 2, 4)
	r.Want(algorithms.Output{
		Deadline: r.In(stand - 2*delta),
		Round:    4,
		Why:      steptest.Why("lease.not-nominated(4)"),
	})
	r.Step(delta, r.Yes(1, 1))
	r.Want(algorithms.Output{Deadline: r.In(stand - 3*delta), Round: 4})
}

// "Claims for the term that it asked for": where the nomination has gone on to the next,
// the voters are asked anew.
func TestAsksAheadForAnotherTerm(t *testing.T) {
	r := contending3(t)
	r.Step(delta, r.Yes(1, 1))
	for _, contends := range []bool{true, false} {
		nominee, term, nonce := proto.NodeID(0), proto.Term(5), uint64(2)
		if !contends {
			nominee, term, nonce = 3, 6, 3
		}
		r.contends = contends
		r.nominate(delta, nominee, term)
		r.WantSoon(r.Last.Deadline.Sub(r.Now)/2+1, algorithms.Output{
			Send:  r.All(term, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: nonce}),
			Round: term,
		})
	}
}

// A node that stands aside asks nobody.
func TestDoesNotAskAheadAside(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Begin()
	r.Step(0, algorithms.Eligible{Why: "paused"})
	r.contends = true
	r.nominate(delta, 0, 4)
	if len(r.Last.Send) != 0 {
		t.Errorf("sent %v", r.Last.Send)
	}
}

// Answers may be lost: it asks again, ever more rarely, as one that is nominated does.
func TestAsksAheadAgain(t *testing.T) {
	r := contending3(t)
	r.Fire()
	r.WantSoon(8*delta, algorithms.Output{
		Send:  r.All(4, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Round: 4,
	})
}

// One whose claim failed asks ahead once the pause after it is over, and not before.
func TestAsksAheadAfterAPause(t *testing.T) {
	r := claiming3(t)
	r.nominee, r.contends = steptest.Leads(0, 2), true
	r.Fire()
	if in := r.Last.Deadline.Sub(r.Now); in < 4*delta || in > 8*delta {
		t.Fatalf("pauses for %v: %v", in, steptest.Texts(r.Last.Why))
	}
	r.Fire()
	if len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindPreVote || r.Last.Send[0].Term != 2 {
		t.Errorf("sent %v: %v", r.Last.Send, steptest.Texts(r.Last.Why))
	}
}
