package lease_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// returned is voter 1, that may vote again above the floor, and what it saved then.
type returned struct {
	steptest.Voter
	saved algorithms.State
}

// floor is the highest term that others voted in.
const floor = 7

// back is voter 1 that lost its disk, was told of the floor, and votes again.
func back(t *testing.T) *returned {
	r := &returned{Voter: steptest.NewVoter(t, 1, nil, unnominated)}
	r.Step(0, algorithms.Start{})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	r.Step(0, answers(r.Voter, 2, floor, false))
	r.Step(0, answers(r.Voter, 3, floor-1, false))
	return r.voteless(t, floor)
}

// voteless notes what was saved: a term without a vote.
func (r *returned) voteless(t *testing.T, term proto.Term) *returned {
	t.Helper()
	if s := r.Last.Save; s == nil || s.Vote != (algorithms.Vote{Term: term}) {
		t.Fatalf("saved %+v", s)
	}
	r.saved = *r.Last.Save
	return r
}

// claims and renewals are asked by the others, whose list of voters is that of voter 1.
func (r *returned) claims(from proto.NodeID, term proto.Term) algorithms.Event {
	return r.From(from, term, proto.RequestVote{Incarnation: steptest.Incarnation(from), Nonce: 1})
}

func (r *returned) renewals(from proto.NodeID, term proto.Term) algorithms.Event {
	return r.From(from, term, heartbeat(from, proto.VoterSet{}))
}

func heartbeat(from proto.NodeID, has proto.VoterSet) proto.Heartbeat {
	return proto.Heartbeat{Leader: steptest.Peer(from), Nonce: 1, Remaining: promise / 2, Voters: has}
}

// denies fails the test unless the voter says no to that, for that reason.
func (r *returned) denies(t *testing.T, ev algorithms.Event, denial proto.Denial) {
	t.Helper()
	r.Step(0, ev)
	for _, m := range r.Last.Send {
		no := proto.Answer{}
		switch b := m.Body.(type) {
		case proto.Vote:
			no = b.Answer
		case proto.HeartbeatReply:
			no = b.Answer
		}
		if no.Denial == denial && r.Last.Save == nil {
			return
		}
	}
	t.Errorf("sent %v, want no: %v", r.Last.Send, denial)
}

// promises fails the test unless the voter promises 2 the term, durably.
func (r *returned) promises(t *testing.T, term proto.Term) {
	t.Helper()
	r.Step(0, r.renewals(2, term))
	want := algorithms.Vote{Term: term, ID: 2, Incarnation: steptest.Incarnation(2)}
	if s := r.Last.Save; s == nil || s.Vote != want {
		t.Fatalf("saved %+v, want %+v: %v", s, want, steptest.Texts(r.Last.Why))
	}
	if sent := r.Last.Send; len(sent) == 0 || sent[0].Body.Kind() != proto.KindHeartbeatReply || sent[0].To != 2 {
		t.Errorf("sent %v", sent)
	}
}

// "In the highest term that it was told of it votes for no candidate, and acknowledges the
// HEARTBEAT of its leader": that binds it to that one alone, as any other promise.
func TestReturnedVoterPromisesToTheLeader(t *testing.T) {
	r := back(t)
	r.denies(t, r.claims(2, floor), proto.DeniedVoted)
	r.denies(t, r.claims(3, floor), proto.DeniedVoted)
	r.denies(t, r.renewals(3, floor-1), proto.DeniedVoted)
	r.promises(t, floor)
	r.denies(t, r.claims(3, floor+1), proto.DeniedPromised)
	r.Step(promise, algorithms.Timeout{})
	r.denies(t, r.claims(3, floor), proto.DeniedVoted)
	r.denies(t, r.renewals(3, floor), proto.DeniedVoted)
	if r.Step(0, r.claims(3, floor+1)); r.Last.Send[0].Body.Kind() != proto.KindVote {
		t.Errorf("does not vote when its promise is over: %v", steptest.Texts(r.Last.Why))
	}
}

// "A promise of this life, a start and another list of voters come before", and the proof that
// the leader is dead.
func TestReturnedVoterThatIsBound(t *testing.T) {
	r := back(t)
	r.Step(0, r.claims(3, floor+1))
	r.denies(t, r.renewals(2, floor), proto.DeniedPromised)

	r = back(t)
	r.Step(0, algorithms.PeerProvenDead{ID: 2, Incarnation: steptest.Incarnation(2)})
	if r.Step(0, r.renewals(2, floor)); r.Last.Save != nil || len(r.Last.Send) > 0 {
		t.Errorf("promises to a dead process: %+v", r.Last)
	}

	again := &returned{Voter: steptest.NewVoter(t, 1, nil, unnominated)}
	again.Step(0, algorithms.Start{Saved: r.saved})
	again.Step(lease.BootWait(promise)-1, again.renewals(2, floor))
	again.denies(t, again.renewals(2, floor), proto.DeniedStarted)
	again.Step(1, algorithms.Timeout{})
	again.promises(t, floor)
}

// "A voter gives no new vote to a node whose list is of its own version and another, or of an
// earlier version", nor a promise that it did not give before.
func TestReturnedVoterWithOtherVoters(t *testing.T) {
	r := back(t)
	r.denies(t, r.From(2, floor, heartbeat(2, listed(0, 0, 1, 2))), proto.DeniedVoters)
	if r.Step(0, r.From(2, floor, heartbeat(2, listed(1, 3, 1, 2)))); r.Last.Save == nil {
		t.Errorf("does not promise under a later list: %v", steptest.Texts(r.Last.Why))
	}
}

// "It is the same with the term below an operator's first one. […] In term 0, of voters that
// never voted, nobody does."
func TestPromisesBelowTheFirstTerm(t *testing.T) {
	for _, first := range []proto.Term{0, 5000} {
		r := &returned{Voter: steptest.NewVoter(t, 1, func(c *algorithms.Config) {
			c.FirstTerm = first
		}, unnominated)}
		r.Step(0, algorithms.Start{})
		r.Step(0, steptest.Alive(1, 2, 3))
		r.Step(0, r.NeverVoted())
		if first == 0 {
			r.voteless(t, 0).denies(t, r.renewals(2, 0), proto.DeniedVoted)
			continue
		}
		r.voteless(t, first-1).denies(t, r.claims(2, first-1), proto.DeniedVoted)
		r.promises(t, first-1)
	}
}
