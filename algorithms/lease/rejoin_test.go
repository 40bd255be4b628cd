package lease_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// returning1 is voter 1, back without its disk, that has asked the others.
func returning1(t *testing.T) *rig {
	return returning(t, func(*algorithms.Config) {})
}

func returning(t *testing.T, change func(*algorithms.Config)) *rig {
	r := unsaved(t, change)
	r.Step(boot, algorithms.Timeout{})
	r.WantSoon(4*delta, algorithms.Output{
		Send: append(
			r.All(0, r.unvoted(1, true, 1)), r.All(0, proto.Recover{Incarnation: steptest.Incarnation(1), Nonce: 1})...,
		),
		Why: steptest.Why("lease.ask-back"),
	})
	return r
}

// unsaved is voter 1 of which nothing is saved but a term of its nomination.
func unsaved(t *testing.T, change func(*algorithms.Config)) *rig {
	r := newRig(t, 1, change)
	r.Step(0, algorithms.Start{Saved: algorithms.State{Term: 3, Reserved: 4}})
	r.WantSoon(4*delta, algorithms.Output{
		Send: r.All(0, r.unvoted(1, true, 1)),
		Why:  steptest.Why("lease.lost(3.04s)"),
	})
	r.Step(0, steptest.Alive(1, 2, 3))
	return r
}

// unvoted is what the first life of a node says that never voted.
func (r *rig) unvoted(id proto.NodeID, asks bool, heard ...proto.NodeID) proto.Unvoted {
	return proto.Unvoted{Incarnation: steptest.Incarnation(id), Heard: r.Lives(heard...), Asks: asks}
}

// stands is a voter's answer to question nonce of voter 1.
func (r *rig) stands(from proto.NodeID, voted, round proto.Term, nonce uint64, p time.Duration) algorithms.Event {
	return r.From(from, voted, proto.VoterState{
		Incarnation: steptest.Incarnation(1), Nonce: nonce, Round: round, Promise: p,
	})
}

// "Ask N - majority + 1 other voters, take the highest term, no vote in it, persist,
// vote."
func TestReturns(t *testing.T) {
	r := returning1(t)
	r.Step(delta, r.stands(2, 7, 9, 1, promise))
	if r.Last.Save != nil {
		t.Fatalf("back on the word of one: %+v", r.Last)
	}
	r.Step(0, r.stands(2, 7, 9, 1, promise)) // once more
	r.Step(0, r.stands(3, 5, 12, 1, promise))
	back := algorithms.State{
		Term: 12, Reserved: 12, Vote: algorithms.Vote{Term: 7}, Promise: promise,
	}
	if r.Last.Save == nil || *r.Last.Save != back {
		t.Fatalf("saved %+v, want %+v", r.Last.Save, back)
	}
	r.Step(delta, r.claim(3, 7, 1))
	if got := r.Last.Send; len(got) != 1 || got[0].Body.Kind() != proto.KindVote {
		t.Errorf("it votes in term 7 again: %+v", got)
	}
	r.Step(0, r.claim(3, 8, 2))
	if got := r.Last.Send; len(got) != 1 || got[0].Body.Kind() != proto.KindVote {
		t.Errorf("it does not vote in term 8: %+v", got)
	}
}

// "It takes over the account of former holders" of those that it asked, but for whom
// it saw to stop meanwhile, and its own former lives. Of one id the last life counts.
func TestReturnsWithTheAccount(t *testing.T) {
	told := func(r *rig, from proto.NodeID, former proto.Leaderships) {
		r.Step(0, r.From(from, 9, proto.VoterState{
			Incarnation: steptest.Incarnation(1), Nonce: 1, Promise: promise, Former: former,
		}))
	}
	later := proto.Leadership{Term: 5, Leader: 2, Incarnation: proto.Incarnation{77}}
	r := returning(t, fences)
	told(r, 2, held(map[proto.NodeID]proto.Term{1: 3, 2: 2, 3: 4}))
	r.Step(0, r.Release(3, 4))
	told(r, 3, proto.PackLeaderships([]proto.Leadership{later}))
	want := proto.PackLeaderships([]proto.Leadership{later})
	if r.Last.Save == nil || r.Last.Save.Former != want {
		t.Fatalf("saved %+v, want former holders %v", r.Last.Save, want.All())
	}
	r.Step(delta, r.claim(3, 10, 1))
	if got := r.account(t); got != want {
		t.Errorf("its first VOTE tells of %v", got.All())
	}
}

// What it was told before it waited on counts for nothing, but for the term.
func TestReturnsWithTheHighestTermItHeardOf(t *testing.T) {
	r := returning(t, fences)
	r.Step(0, r.From(2, 9, proto.VoterState{
		Incarnation: steptest.Incarnation(1), Nonce: 1, Promise: 2 * promise,
		Former: held(map[proto.NodeID]proto.Term{3: 4}),
	}))
	r.Fire()
	r.Step(0, r.stands(2, 7, 7, 2, 2*promise))
	r.Step(0, r.stands(3, 7, 7, 2, promise))
	if s := r.Last.Save; s == nil || s.Vote.Term != 9 || s.Former != "" {
		t.Errorf("saved %+v", s)
	}
}

// A voter tells of its last vote as of those before, "not seen to stop".
func TestTellsOfItsLastVote(t *testing.T) {
	three := held(map[proto.NodeID]proto.Term{3: 1})
	for name, c := range map[string]struct {
		config func(*algorithms.Config)
		event  func(*rig) algorithms.Event
		want   proto.Leaderships
	}{
		"granted":    {fences, func(*rig) algorithms.Event { return algorithms.Timeout{} }, three},
		"no fencing": {nil, func(*rig) algorithms.Event { return algorithms.Timeout{} }, ""},
		"released":   {fences, func(r *rig) algorithms.Event { return r.Release(3, 1) }, ""},
		"proven dead": {fences, func(*rig) algorithms.Event {
			return algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)}
		}, ""},
	} {
		r := granted(t, c.config)
		r.Step(0, c.event(r))
		r.Step(0, r.From(2, 0, proto.Recover{Incarnation: steptest.Incarnation(2), Nonce: 5}))
		if got := r.Last.Send; len(got) != 1 || got[0].Body.(proto.VoterState).Former != c.want {
			t.Errorf("%s: told %+v, want %v", name, got, c.want.All())
		}
	}
}

// Until then it says no to everybody, and tells nobody of anything.
func TestReturningVotesForNobody(t *testing.T) {
	r := returning1(t)
	r.Step(delta, r.claim(3, 1, 7))
	if got := r.Last.Send; len(got) != 1 || got[0].Body.(proto.Vote).Denial != proto.DeniedStarted {
		t.Errorf("got %+v", got)
	}
	r.Step(0, r.renew(3, 1, 7)) // of a vote that it may have given
	if got := r.Last.Send; len(got) != 1 || got[0].Body.(proto.HeartbeatReply).Denial != proto.DeniedStarted {
		t.Errorf("got %+v", got)
	}
	r.Step(0, r.From(2, 0, proto.Recover{Incarnation: steptest.Incarnation(2), Nonce: 1}))
	r.Sends(r.Last, r.Msg(2, 0, proto.VoterState{Incarnation: steptest.Incarnation(2), Nonce: 1, Lost: true}))
	r.nominate(stand, 1, 1)
	for _, m := range r.Last.Send {
		if k := m.Body.Kind(); k != proto.KindRecover && k != proto.KindUnvoted {
			t.Errorf("it stands: %+v", m)
		}
	}
}

// "Wait the largest promise": another voter may know of a longer one.
func TestReturningWaitsForALongerPromise(t *testing.T) {
	r := returning1(t)
	r.Step(0, r.stands(2, 7, 7, 1, 2*promise))
	longer := 2*promise + 2*promise/100 + 10*time.Millisecond - boot
	if until := r.Last.Recovery.Until; len(r.Last.Send) > 0 || !until.Equal(r.In(longer)) {
		t.Fatalf("waits until %v, sends %v", until, r.Last.Send)
	}
	r.Step(0, r.stands(3, 7, 7, 1, promise)) // to the old question
	r.Step(longer-1, algorithms.Timeout{})
	r.Sends(r.Last, r.All(0, r.unvoted(1, true, 1))...)
	r.Step(1, algorithms.Timeout{})
	r.Sends(r.Last, r.All(0, proto.Recover{Incarnation: steptest.Incarnation(1), Nonce: 2})...)
	r.Step(0, r.stands(2, 7, 7, 2, 2*promise))
	r.Step(0, r.stands(3, 7, 7, 2, promise))
	if r.Last.Save == nil || r.Last.Save.Promise != 2*promise {
		t.Errorf("saved %+v", r.Last.Save)
	}
}

// So may one that answers an older question, and it may not be among those that answer next.
func TestReturningWaitsForALongerPromiseToldLate(t *testing.T) {
	r := returning1(t)
	r.Step(0, r.stands(2, 7, 7, 1, 2*promise))
	r.Fire()
	r.Step(0, r.stands(3, 7, 7, 1, 3*promise))
	r.Step(0, r.stands(2, 7, 7, 2, 2*promise))
	r.Step(0, r.stands(3, 7, 7, 2, 2*promise))
	if r.Last.Save != nil {
		t.Fatalf("is back while a promise of its own may run: %+v", r.Last)
	}
	r.Fire()
	r.Step(0, r.stands(2, 7, 7, 3, 2*promise))
	r.Step(0, r.stands(3, 7, 7, 3, 3*promise))
	if r.Last.Save == nil || r.Last.Save.Promise != 3*promise {
		t.Errorf("saved %+v", r.Last.Save)
	}
}

// The terms that were told before a longer promise turned up are known all the same.
func TestReturningKeepsWhatItWasTold(t *testing.T) {
	r := returning1(t)
	r.Step(0, r.stands(2, 8, 11, 1, 2*promise))
	r.Step(0, r.stands(3, 9, 7, 1, promise)) // to the old question
	r.Fire()
	r.Step(0, r.stands(2, 7, 7, 2, 2*promise))
	r.Step(0, r.stands(3, 7, 7, 2, promise))
	if s := r.Last.Save; s == nil || s.Vote.Term != 9 || s.Reserved < 11 {
		t.Errorf("saved %+v, want no vote up to term 9, nor a round up to 11", s)
	}
}

// A voter tells who lost its disk what it voted in, and how far the nomination is.
func TestTellsWhoReturns(t *testing.T) {
	r := granted(t, nil)
	r.nominate(delta, 2, 4)
	r.Step(0, r.From(2, 0, proto.Recover{Incarnation: steptest.Incarnation(2), Nonce: 5}))
	want := r.Msg(2, 1, proto.VoterState{Incarnation: steptest.Incarnation(2), Nonce: 5, Round: 4, Promise: promise})
	if got := r.Last.Send; len(got) != 1 || got[0] != want {
		t.Errorf("told %+v, want %+v", got, want)
	}
}
