package lease_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// "It asks first, and claims only when a majority would grant": an answer to
// another process, or to another round, is none.
func TestAsksFirst(t *testing.T) {
	r := asking3(t)
	due := r.Last.Deadline
	for _, ev := range []algorithms.Event{
		r.Yes(1, 2),
		r.From(1, 0, proto.PreVoteReply{Incarnation: proto.Incarnation{99}, Nonce: 1}),
	} {
		r.Step(0, ev)
		r.Want(algorithms.Output{Deadline: due, Round: 1})
	}
	r.Step(0, r.no(1, 0, 1, proto.DeniedStarted, 0))
	r.Want(algorithms.Output{Deadline: due, Round: 1, Why: steptest.Why("lease.says-started(1)")})
	r.Step(0, r.Yes(1, 1))
	r.Want(algorithms.Output{
		Save:     voted(1, 3),
		Send:     r.All(1, proto.RequestVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Deadline: r.In(8 * delta),
		Round:    1,
		Why:      steptest.Why("lease.candidate(1)"),
	})
}

// A yes that was taken back does not count.
func TestTheLastAnswerCounts(t *testing.T) {
	r := newRig(t, 3, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1, 2, 3, 4, 5} })
	r.Begin()
	r.nominate(0, 3, 1)
	r.Step(0, r.Yes(1, 1))
	r.Step(0, r.no(1, 0, 1, proto.DeniedPromised, 2))
	r.Step(0, r.Yes(2, 1))
	if len(r.Last.Send) != 0 {
		t.Errorf("sent %v", r.Last.Send)
	}
	r.Step(0, r.Yes(2, 1)) // once a voter, however often it says so
	if len(r.Last.Send) != 0 {
		t.Errorf("sent %v", r.Last.Send)
	}
	r.Step(0, r.Yes(4, 1))
	if len(r.Last.Send) != 4 || r.Last.Send[0].Body.Kind() != proto.KindRequestVote {
		t.Errorf("sent %v", r.Last.Send)
	}
}

// A question is repeated for what may be lost, ever more rarely: 4Δ, 8Δ, at most
// a third of a promise. It is not recorded again, nor is the same answer.
func TestAsksAgainEverMoreRarely(t *testing.T) {
	r := asking3(t)
	r.Step(0, r.no(1, 0, 1, proto.DeniedPromised, 2))
	for i, pause := range []time.Duration{8 * delta, promise / 4, promise / 4} {
		nonce := uint64(i + 2)
		r.Fire()
		r.WantSoon(pause, algorithms.Output{
			Send:  r.All(1, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: nonce}),
			Round: 1,
		})
		due := r.Last.Deadline
		r.Step(0, r.no(1, 0, nonce, proto.DeniedPromised, 2))
		r.Want(algorithms.Output{Deadline: due, Round: 1})
	}
	due := r.Last.Deadline
	r.Step(0, r.no(1, 0, 4, proto.DeniedStands, 1))
	r.Want(algorithms.Output{Deadline: due, Round: 1, Why: steptest.Why("lease.says-stands(1, 1)")})
}

// "The refusal names the term that the voter knows of": the candidate asks for a
// higher one. That is a hint, adopted for nothing else.
func TestAsksForAHigherTerm(t *testing.T) {
	r := asking3(t)
	r.Step(0, r.no(1, 7, 1, proto.DeniedVoted, 2))
	r.WantSoon(8*delta, algorithms.Output{
		Send:  r.All(8, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Round: 7,
		Why:   steptest.Why("lease.higher(1, 7)"),
	})
	due := r.Last.Deadline
	r.Step(0, r.no(1, 7+1<<20+1, 2, proto.DeniedVoted, 2))
	r.Want(algorithms.Output{
		Send:     r.All(0, proto.Recover{Incarnation: steptest.Incarnation(3)}),
		Deadline: due, Round: 7, Warn: true, Why: steptest.Why(
			"lease.absurd-hint(1048584, 7)", "lease.says-voted(1, 2)",
		),
	})
}

// "Only grants of this very term, incarnation and round of questions count, once a
// voter".
func TestWhatGrantsCount(t *testing.T) {
	r := newRig(t, 3, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1, 2, 3, 4, 5} })
	r.Begin()
	r.nominate(0, 3, 1)
	r.Step(0, r.Yes(1, 1))
	r.Step(0, r.Yes(2, 1))
	due := r.Last.Deadline
	for _, ev := range []algorithms.Event{
		r.granted(1, 1, 2), r.granted(1, 1, 2), // twice the same
		r.granted(2, 1, 1), r.granted(2, 2, 2),
		r.From(2, 1, proto.Vote{Incarnation: proto.Incarnation{99}, Nonce: 2}),
		r.From(2, 1, proto.Vote{
			Incarnation: proto.Incarnation{99}, Nonce: 2, Answer: proto.Answer{Denial: proto.DeniedStarted},
		}),
	} {
		r.Step(0, ev)
		r.Want(algorithms.Output{Deadline: due, Round: 1})
	}
	r.Step(0, r.granted(6, 1, 2))
	r.Want(algorithms.Output{
		Deadline: due, Round: 1, Warn: true,
		Why: steptest.Why("lease.stranger(VOTE, 6, 3)"),
	})
	r.Step(0, r.From(4, 1, proto.Vote{
		Incarnation: steptest.Incarnation(3), Nonce: 2, Answer: proto.Answer{Denial: proto.DeniedPromised, To: 5},
	}))
	r.Want(algorithms.Output{
		Deadline: due, Round: 1, Why: steptest.Why("lease.says-promised(4, 5)"),
	})
	r.Step(0, r.granted(2, 1, 2))
	if r.Last.Leader.ID != 3 {
		t.Errorf("%+v", r.Last)
	}
}

// "The lease runs from before the first REQUEST_VOTE left": however long the grants were
// under way. After its end they do not count.
func TestLeaseRunsFromBeforeTheClaim(t *testing.T) {
	r := claiming3(t)
	r.Step(leased-1, r.granted(1, 1, 2))
	if want := r.Leads(3, 1, 1); r.Last.Leader != want {
		t.Errorf("got %+v, want %+v", r.Last.Leader, want)
	}
	r = claiming3(t)
	r.Step(leased, r.granted(1, 1, 2)) // a host that was stopped hands over what is old first
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}),
		Round: 1,
		Why:   r.Last.Why,
	})
}

// A lease is "shorter than the promise by all that clocks may differ": the
// slowest clock shows its end before the fastest shows that of the promise.
func TestLeaseEndsInsideThePromise(t *testing.T) {
	for _, p := range []time.Duration{
		lease.MinPromise(time.Microsecond), lease.MinPromise(delta), promise, time.Hour,
	} {
		l := lease.Of(p)
		slow := float64(l) / (1 - lease.Drift/1e6)
		fast := float64(p) / (1 + lease.Drift/1e6)
		if l <= 0 || slow >= fast {
			t.Errorf("promise %v, lease %v: ends after %v, the promise after %v", p, l,
				time.Duration(slow), time.Duration(fast))
		}
	}
}

// Without a majority in time: RELEASE, a pause, and never that term again.
func TestNoMajority(t *testing.T) {
	r := claiming3(t)
	r.Fire()
	if len(steptest.Texts(r.Last.Why)) != 1 {
		t.Fatalf("%+v", r.Last)
	}
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}),
		Round: 1,
		Why:   r.Last.Why,
	})
	due := r.Last.Deadline
	r.Step(0, r.granted(1, 1, 2)) // too late
	r.Want(algorithms.Output{Deadline: due, Round: 1})

	r.Fire()
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(2, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 3}),
		Round: 1,
		Why: steptest.Why(
			"lease.ask(lease.nominated, 2)",
		),
	})
	r.Step(0, r.Yes(1, 3))
	r.Fire()
	r.WantSoon(8*delta, algorithms.Output{ // the second time, it waits longer
		Send:  r.All(2, proto.Release{Incarnation: steptest.Incarnation(3)}),
		Round: 2,
		Why:   r.Last.Why,
	})
}

// "A claim waits the longer for its grants the more of this node's failed in a row, up to
// half a lease: […] A back-off in between changes nothing in that."
func TestClaimIsPatient(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Begin()
	r.nominate(0, 3, 1)
	for i, want := range []time.Duration{8 * delta, leased / 2, leased / 2, leased / 2, leased / 2} {
		for r.Last.Send == nil || r.Last.Send[0].Body.Kind() != proto.KindPreVote {
			r.Fire()
		}
		r.Step(0, r.Yes(1, r.Last.Send[0].Body.(proto.PreVote).Nonce))
		if in := r.Last.Deadline.Sub(r.Now); in != want {
			t.Errorf("after %d claims that failed the next one waits %v, want %v", i, in, want)
		}
		r.Fire() // no grant came
	}
	const long = 200 * delta
	half := lease.Of(long) / 2
	for failed, want := range []time.Duration{8 * delta, 16 * delta, 32 * delta, 64 * delta, half, half} {
		if got := lease.ClaimTimeout(long, delta, failed); got != want {
			t.Errorf("after %d claims that failed the next one waits %v, want %v", failed, got, want)
		}
	}
}

// "One that too many voters deny for it to win waits no longer".
func TestSplitVote(t *testing.T) {
	r := claiming3(t)
	denied := func(from proto.NodeID) algorithms.Event {
		return r.From(from, 0, proto.Vote{
			Incarnation: steptest.Incarnation(3), Nonce: 2, Answer: proto.Answer{Denial: proto.DeniedStands, To: from},
		})
	}
	for range 2 { // once a voter, however often it says so
		r.Step(delta, denied(1))
		r.Want(algorithms.Output{
			Deadline: r.Last.Deadline, Round: 1, Why: steptest.Why("lease.says-stands(1, 1)"),
		})
	}
	r.Step(0, denied(2))
	if len(steptest.Texts(r.Last.Why)) != 2 {
		t.Fatalf("%+v", r.Last)
	}
	r.WantSoon(4*delta, algorithms.Output{
		Send: r.All(1, proto.Release{Incarnation: steptest.Incarnation(3)}), Round: 1, Why: r.Last.Why,
	})
}

// A vote for a candidacy that is over counts for no other, and the record says so.
func TestLateVoteOfAFormerTerm(t *testing.T) {
	r := claiming3(t)
	r.Step(delta, r.granted(1, 0, 2))
	r.Want(algorithms.Output{
		Deadline: r.Last.Deadline, Round: 1, Why: steptest.Why("lease.stale-vote(0, 1)"),
	})
}

// "Whoever has won the term of its vote gets its promise, whomever it voted for: no other can win
// that term any more. The vote stays."
func TestLoserPromisesToTheWinner(t *testing.T) {
	dead := algorithms.PeerProvenDead{ID: 2, Incarnation: steptest.Incarnation(2)}
	for _, over := range []func(*rig) algorithms.Event{
		func(r *rig) algorithms.Event { return r.Release(2, 1) },
		func(*rig) algorithms.Event { return dead },
	} {
		loserPromises(t, over)
	}
}

// loserPromises lets node 3 lose term 1 to node 2, and be asked by node 1, until over ends the promise.
func loserPromises(t *testing.T, over func(*rig) algorithms.Event) {
	t.Helper()
	r := claiming3(t)
	r.Step(delta, r.renew(2, 1, 4)) // its RELEASE has to leave first
	if r.Last.Leader.ID != 2 || !slices.Contains(r.Last.Send, r.All(1, proto.Release{
		Incarnation: steptest.Incarnation(3),
	})[0]) {
		t.Fatalf("%+v", r.Last)
	}
	r.Step(delta, r.renew(2, 1, 5))
	if r.Last.Save != nil || !slices.Contains(r.Last.Send, r.again(2, 1, 5)) {
		t.Fatalf("%+v", r.Last)
	}
	r.Step(0, r.claim(2, 1, 3)) // late: it has the promise, and no vote
	if !slices.Contains(r.Last.Send, r.Deny(2, 1, 3, proto.DeniedVoted, 3)) {
		t.Errorf("%+v", r.Last)
	}
	r.Step(0, r.renew(1, 1, 1)) // two cannot have won
	if !slices.Contains(r.Last.Send, r.Msg(1, 1, proto.HeartbeatReply{
		Incarnation: steptest.Incarnation(1), Nonce: 1, Answer: proto.Answer{Denial: proto.DeniedPromised, To: 2},
	})) {
		t.Errorf("%+v", r.Last)
	}
	r.Step(0, r.ask(1, 2, 1))
	if !slices.Contains(r.Last.Send, r.Answer(1, 1, 1, proto.DeniedPromised, 2)) {
		t.Errorf("%+v", r.Last)
	}
	r.Step(0, over(r))
	if !slices.Contains(r.Last.Send, r.Answer(1, 1, 1, proto.NotDenied, 0)) {
		t.Errorf("%+v", r.Last)
	}
}

// A candidate that grants another the term it asks for asks no more.
func TestGrantsWhileItAsks(t *testing.T) {
	r := asking3(t)
	r.Step(0, r.claim(2, 1, 1))
	r.WantSoon(4*delta, algorithms.Output{ // it is still nominated
		Save: voted(1, 2),
		Send: append([]proto.Message{r.grant(2, 1, 1)},
			r.All(2, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 2})...),
		Round: 1,
		Why: steptest.Why(
			"lease.vote(2, 1)",
			"lease.ask(lease.nominated, 2)",
		),
	})
}

// "When no leader was heard of for a promise, any voter stands, the better-ranked
// sooner."
func TestStandsWithoutNomination(t *testing.T) {
	for self, above := range map[proto.NodeID]time.Duration{3: 0, 2: 1, 1: 2} {
		r := newRig(t, self, nil)
		r.Start(0, 1, 2, 3)
		r.Want(algorithms.Output{Deadline: r.In(stand + above*4*delta)})
		r.Fire()
		r.WantSoon(4*delta, algorithms.Output{
			Send: r.All(1, proto.PreVote{Incarnation: steptest.Incarnation(self), Nonce: 1}),
			Why:  steptest.Why("lease.ask(lease.vacant, 1)"),
		})
	}
}

// A cluster of one voter needs nobody else.
func TestSingleVoter(t *testing.T) {
	r := newRig(t, 1, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1} })
	r.Begin()
	r.nominate(0, 1, 1)
	r.Want(algorithms.Output{
		Save:     voted(1, 1),
		Deadline: r.In(promise / 4),
		Leader:   r.Leads(1, 1, leased),
		Round:    1,
		Why: steptest.Why(
			"lease.ask(lease.nominated, 1)",
			"lease.candidate(1)",
			"lease.lead(1)",
		),
	})
}

// "A no becomes a yes unasked", this node's own too: it waits for no round of questions
// when its own voter is the last that was bound.
func TestOwnVoterBecomesFree(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Begin()
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(delta, r.claim(2, 1, 7))
	free := r.Now.Add(promise)
	r.Step(0, r.holds(2, 1, leased))
	r.nominee = steptest.Leads(3, 2)
	r.Fire()                                              // the lease's end: it asks
	r.Step(free.Sub(r.Now)-time.Millisecond, r.Yes(1, 1)) // 1 is free a moment sooner
	if r.Last.Deadline != free {
		t.Errorf("looks at its own voter %v after that is free", r.Last.Deadline.Sub(free))
	}
	r.Fire()
	want := r.All(2, proto.RequestVote{Incarnation: steptest.Incarnation(3), Nonce: 2})
	if !slices.Equal(r.Last.Send, want) {
		t.Errorf("%+v", r.Last)
	}
}

// "One sender's word moves a term by a bounded amount": denials that tell of higher and higher terms move the next
// candidacy by one jump in all.
func TestHintsAreBoundedInAll(t *testing.T) {
	r := granted(t, nil) // a vote in term 1
	for i := proto.Term(1); i <= 4; i++ {
		r.Step(0, r.From(2, 1+i*proto.MaxTermJump, proto.Vote{
			Incarnation: steptest.Incarnation(1), Nonce: 99, Answer: proto.Answer{Denial: proto.DeniedPromised},
		}))
		if want := 1 + proto.MaxTermJump; r.Last.Round > want {
			t.Errorf("after %d hints this node counts on term %d, want at most %d", i, r.Last.Round, want)
		}
	}
}
