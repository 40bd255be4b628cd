package lease_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// "It votes once a term, durably before it answers, for one process: an id and a
// incarnation. It grants an equal term to that process only": again to that one, and
// to no other when its promise has run out.
func TestVotesOnceATerm(t *testing.T) {
	r := granted(t, nil)
	r.Step(delta, r.claim(3, 1, 7))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.grant(3, 1, 7)},
		Deadline: r.In(stand + 8*delta),
		Round:    1,
	})
	due := r.Last.Deadline

	r.Unmoved(promise, r.claim(2, 1, 1),
		"lease.deny-voted(2, 1, 3)", r.Deny(2, 1, 1, proto.DeniedVoted, 3))

	r.Step(0, r.From(3, 1, proto.RequestVote{Incarnation: proto.Incarnation{99}, Nonce: 1}))
	r.Want(algorithms.Output{
		Send: []proto.Message{r.Msg(3, 1, proto.Vote{
			Incarnation: proto.Incarnation{99}, Nonce: 1, Answer: proto.Answer{Denial: proto.DeniedVoted, To: 3},
		})},
		Deadline: due,
		Round:    1,
		Why:      steptest.Why("lease.deny-voted(3, 1, 3)"),
	})
}

// "A higher term it grants when its promise is over: run out". Until then, "a
// request that is refused changes nothing: no term is adopted, no promise dropped.
// The refusal names the term that the voter knows of."
func TestPromiseRunsOut(t *testing.T) {
	r := granted(t, nil)
	for range 2 {
		r.Unmoved(promise/2-1, r.claim(2, 9, 1),
			"lease.deny-promised(2, 9, 3)", r.Deny(2, 1, 1, proto.DeniedPromised, 3))
	}
	r.Step(2, r.claim(2, 9, 1))
	r.wantGranted(2, 9, 1)
}

// HEARTBEAT makes the promise anew.
func TestRenewedPromiseRunsAnew(t *testing.T) {
	r := granted(t, nil)
	r.Step(promise-1, r.renew(3, 1, 8))
	r.Want(algorithms.Output{
		Send: []proto.Message{r.again(3, 1, 8)}, Deadline: r.In(leased), Leader: r.Leads(3, 1, leased), Round: 1,
		Why: steptest.Why("lease.follow(3, 1)"),
	})
	r.Fire() // it has heard no other
	r.Unmoved(promise-1-leased, r.claim(2, 2, 1),
		"lease.deny-promised(2, 2, 3)", r.Deny(2, 1, 1, proto.DeniedPromised, 3))
}

// "Released by the very process it voted for": that id, that incarnation, that term.
// The vote stays.
func TestRelease(t *testing.T) {
	r := granted(t, nil)
	for why, ev := range map[string]algorithms.Event{
		"lease.release-foreign(3, 1)": r.From(
			3, 1, proto.Release{Incarnation: proto.Incarnation{99}}),
		"lease.release-foreign(3, 2)": r.Release(3, 2),
		"lease.release-foreign(2, 1)": r.Release(2, 1),
	} {
		r.Unmoved(0, ev, why)
	}
	r.Unmoved(0, r.Release(3, 1), "lease.release(3, 1)")
	r.Unmoved(0, r.claim(3, 1, 9), // late, and of what it gave back
		"lease.deny-released(3, 1)", r.Deny(3, 1, 9, proto.DeniedVoted, 3))
	r.Step(0, r.claim(2, 2, 1))
	r.wantGranted(2, 2, 1)
}

// "Or that process is proven dead": that incarnation. What it said, late, is dropped.
func TestProvenDeath(t *testing.T) {
	r := granted(t, nil)
	r.Unmoved(0, algorithms.PeerProvenDead{ID: 3, Incarnation: proto.Incarnation{99}}, "")

	r.Unmoved(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)},
		"lease.freed(3)")
	r.Gives(0, r.renew(3, 1, 8), "lease.gone(3, 1)", "lease.dead-says(3)")
	if len(r.Last.Send) > 0 || r.Last.Save != nil || r.Last.Leader.ID != 0 {
		t.Errorf("%+v", r.Last)
	}
	r.Unmoved(0, r.claim(2, 1, 1), // the vote stays
		"lease.deny-voted(2, 1, 3)", r.Deny(2, 1, 1, proto.DeniedVoted, 3))
	r.Step(0, r.claim(2, 2, 1))
	r.wantGranted(2, 2, 1)
}

// "A process that is heard again by a new link is alive": its words count. What was freed
// stays free; it may have the promise of its term anew, while that term's vote is its own.
func TestHeardAgain(t *testing.T) {
	r := granted(t, nil)
	lives := algorithms.PeerHeardAgain{ID: 3, Incarnation: steptest.Incarnation(3)}
	r.Unmoved(0, lives, "") // it was never dead
	r.Step(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Unmoved(0, algorithms.PeerHeardAgain{ID: 3, Incarnation: proto.Incarnation{99}}, "")
	r.Unmoved(0, lives, "lease.lives(3)")
	r.Step(0, r.renew(3, 1, 8))
	if len(r.Last.Send) != 1 || r.Last.Send[0].Body.Kind() != proto.KindHeartbeatReply {
		t.Fatalf("%+v, want the promise anew", r.Last.Send)
	}

	r = granted(t, nil)
	r.Step(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Step(0, lives)
	r.Step(0, r.claim(2, 2, 1))
	r.wantGranted(2, 2, 1)
}

// "What it gave back itself stays over": whatever is proven after that, and taken back.
func TestHeardAgainAfterRelease(t *testing.T) {
	r := granted(t, nil)
	r.Step(0, r.Release(3, 1))
	r.Step(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Step(0, algorithms.PeerHeardAgain{ID: 3, Incarnation: steptest.Incarnation(3)})
	r.Unmoved(0, r.claim(3, 1, 9), "lease.deny-released(3, 1)", r.Deny(3, 1, 9, proto.DeniedVoted, 3))
}

// "algorithms.Config.AwaitLeases turns it off."
func TestKeepPromises(t *testing.T) {
	r := granted(t, func(c *algorithms.Config) { c.AwaitLeases = true })
	r.Unmoved(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)},
		"lease.keep(3)")
	r.Unmoved(0, r.claim(2, 2, 1),
		"lease.deny-promised(2, 2, 3)", r.Deny(2, 1, 1, proto.DeniedPromised, 3))
}

// "After a start it grants no new term for as long as any promise of its former
// life may run", be it longer than today's. "Neither release nor proof ends that."
// The process that it voted for it grants what it had.
func TestBootWait(t *testing.T) {
	r := newRig(t, 1, nil)
	saved := *voted(4, 3)
	saved.Promise = 2 * promise // 6 s, 1 % for drift, 10 ms
	const wait = 2*boot - 10*time.Millisecond
	r.Step(0, algorithms.Start{Saved: saved})
	r.Want(algorithms.Output{Deadline: r.In(stand), Round: 4})
	r.Step(0, algorithms.Resign{}) // it stands aside, but it votes
	r.Want(algorithms.Output{Round: 4})

	r.Step(0, r.renew(3, 4, 8))
	r.Want(algorithms.Output{
		Send: []proto.Message{r.Msg(3, 4, proto.HeartbeatReply{
			Incarnation: steptest.Incarnation(3), Nonce: 8, Wait: wait,
		})},
		Deadline: r.In(leased), Leader: r.Leads(3, 4, leased), Round: 4,
		Why: steptest.Why("lease.follow(3, 4)"),
	})
	r.Step(0, r.Release(3, 4))
	r.Want(algorithms.Output{
		Leader: algorithms.Leader{Term: 4}, Round: 4,
		Why: steptest.Why("lease.release(3, 4)", "lease.leader-released(3)"),
	})
	r.Unmoved(0, algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)},
		"lease.freed(3)")
	r.Unmoved(wait-1, r.claim(2, 5, 1),
		"lease.deny-started(2, 5)", r.Deny(2, 4, 1, proto.DeniedStarted, 0))
	r.Step(1, r.claim(2, 5, 1))
	save := voted(5, 2)
	save.Promise = 2 * promise // the longest is never forgotten
	r.Want(algorithms.Output{
		Save:   save,
		Send:   []proto.Message{r.grant(2, 5, 1)},
		Leader: algorithms.Leader{Term: 4},
		Round:  5,
		Why:    steptest.Why("lease.vote(2, 5)"),
	})
}

// "After a start for as long as any promise of its former life may run": a promise that is longer than
// those before is saved before it is given, also where the vote was saved before.
func TestLongerPromiseIsSaved(t *testing.T) {
	for _, to := range []proto.NodeID{2, 3} { // 2 won term 4 without this voter's vote
		r := newRig(t, 1, nil)
		saved := *voted(4, 3)
		saved.Promise = promise / 2
		r.Step(0, algorithms.Start{Saved: saved})
		r.Step(boot, r.renew(to, 4, 8))
		if r.Last.Save == nil || r.Last.Save.Promise != promise || r.Last.Save.Vote != saved.Vote ||
			len(r.Last.Send) != 1 || r.Last.Send[0] != r.again(to, 4, 8) {
			t.Errorf("promises to %d, and saves %+v: %+v", to, r.Last.Save, r.Last)
		}
	}
}

// In its boot wait it may stand while nothing but that binds it: a promise that this life
// made anew runs on beyond it, and a vote for itself must not make it forget that.
func TestKeepsItsPromiseInItsBootWait(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Step(0, algorithms.Start{Saved: *voted(4, 1)})
	r.nominate(delta, 3, 5)
	r.Step(0, r.holds(1, 4, delta))
	r.Fire() // nothing of the leader's lease is left, as it said: the promise runs on
	for r.Last.Send == nil {
		r.Fire()
	}
	r.Step(0, r.Yes(1, 2))
	r.Step(0, r.Yes(2, 2))
	if len(r.Last.Send) != 0 || r.Last.Save != nil {
		t.Fatalf("claims while it is bound: %+v", r.Last)
	}
	r.Step(0, r.Release(1, 4))
	if len(r.Last.Send) != 2 || r.Last.Send[0].Body.Kind() != proto.KindRequestVote {
		t.Fatalf("does not claim once it is free: %+v", r.Last)
	}
}

// "Until then it may stand, and votes for itself, but does not count that: a majority of
// the others has to grant", at first and at each renewal.
func TestStandsInItsBootWait(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Step(0, algorithms.Start{Saved: *voted(4, 1)})
	r.nominate(delta, 3, 5)
	r.Step(0, r.Yes(1, 1))
	if len(r.Last.Send) != 0 {
		t.Fatalf("claims with one of the others: %+v", r.Last)
	}
	r.Step(0, r.Yes(2, 1))
	r.Want(algorithms.Output{
		Save:     voted(5, 3),
		Send:     r.All(5, proto.RequestVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Deadline: r.In(8 * delta),
		Round:    5,
		Why:      steptest.Why("lease.candidate(5)"),
	})
	r.Step(0, r.granted(1, 5, 2))
	if r.Last.Leader.ID != 0 {
		t.Fatalf("leads with the grant of one of the others: %+v", r.Last)
	}
	r.Step(0, r.granted(2, 5, 2))
	if want := r.Leads(3, 5, leased); r.Last.Leader != want {
		t.Fatalf("got %+v, want %+v", r.Last.Leader, want)
	}

	for nonce := uint64(3); nonce <= 6; nonce++ {
		r.Step(promise/4, algorithms.Timeout{})
		before, want := r.Last.Leader, r.Leads(3, 5, leased)
		r.Step(0, r.granted(1, 5, nonce))
		if booted := delta+time.Duration(nonce-2)*promise/4 >= boot; !booted {
			if r.Last.Leader != before {
				t.Fatalf("round %d: renewed by one of the others: %+v", nonce, r.Last.Leader)
			}
			r.Step(0, r.granted(2, 5, nonce))
		}
		if r.Last.Leader != want {
			t.Fatalf("round %d: got %+v, want %+v", nonce, r.Last.Leader, want)
		}
	}
}

// A voter that never promised anything has nothing to wait for.
func TestFirstStartDoesNotWait(t *testing.T) {
	r := granted(t, nil)
	if r.Now.Sub(steptest.Zero) != delta {
		t.Errorf("granted after %v", r.Now.Sub(steptest.Zero))
	}
}

// PRE_VOTE asks "would you grant now?" and "nothing changes". A no becomes a yes by
// itself, once; the same no again is not worth a record.
func TestAsk(t *testing.T) {
	r := granted(t, nil)
	due := r.In(promise) // when the promise ends, 2 is told
	r.Step(0, r.ask(2, 2, 1))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Answer(2, 1, 1, proto.DeniedPromised, 3)},
		Deadline: due,
		Round:    1,
		Why:      steptest.Why("lease.no-promised(2, 2, 3)"),
	})
	r.Unmoved(0, r.ask(2, 2, 2), "", r.Answer(2, 1, 2, proto.DeniedPromised, 3))
	r.Unmoved(0, r.ask(2, 2, 1), "") // once more, late
	r.Fire()
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Answer(2, 1, 2, proto.NotDenied, 0)},
		Deadline: r.In(stand + 8*delta - promise),
		Round:    1,
		Why:      steptest.Why("lease.yes(2, 2)"),
	})
	r.Unmoved(0, r.ask(2, 1, 3), "lease.no-voted(2, 1, 3)", r.Answer(2, 1, 3, proto.DeniedVoted, 3))
	r.Unmoved(0, r.ask(3, 2, 4), "lease.yes(3, 2)", r.Answer(3, 1, 4, proto.NotDenied, 0))
}

// Only voters vote, and only voters are voted for.
func TestStrangers(t *testing.T) {
	r := voter1(t, nil)
	due := r.Last.Deadline
	r.Step(0, r.claim(4, 1, 1))
	r.Want(algorithms.Output{
		Deadline: due, Warn: true, Why: steptest.Why("lease.stranger(REQUEST_VOTE, 4, 1)"),
	})
	r.Step(0, r.claim(1, 1, 1))
	r.Want(algorithms.Output{
		Deadline: due, Warn: true, Why: steptest.Why("lease.stranger(REQUEST_VOTE, 1, 1)"),
	})
}

// A node that is no voter grants nothing, asks for nothing, and follows.
func TestNonVoterFollows(t *testing.T) {
	r := newRig(t, 4, nil)
	r.nominee = steptest.Leads(4, 1)
	r.Start(0, 1, 2, 3, 4)
	r.Want(algorithms.Output{})
	r.Step(0, r.claim(3, 1, 1))
	r.Want(algorithms.Output{
		Warn: true, Why: steptest.Why("lease.no-voter(REQUEST_VOTE, 3)"),
	})
	r.Step(delta, r.holds(3, 1, promise/2))
	r.Want(algorithms.Output{
		Deadline: r.In(promise / 2),
		Leader:   r.Leads(3, 1, promise/2),
		Round:    1,
		Why:      steptest.Why("lease.follow(3, 1)"),
	})
	r.Fire()
	r.Want(algorithms.Output{
		Leader: steptest.Leads(0, 1),
		Round:  1,
		Why:    steptest.Why("lease.not-renewed(3)"),
	})
}

// "A jump above 2^20 beyond one's own is refused and flagged": a forged REQUEST_VOTE of the
// last term there is would leave no term for anybody else. It changes nothing.
func TestAbsurdTermIsRefused(t *testing.T) {
	incarnation := steptest.Incarnation(2)
	absurd := proto.Term(1 + 1<<20 + 1)
	for _, body := range []proto.Body{
		proto.RequestVote{Incarnation: incarnation, Nonce: 1},
		proto.HeartbeatReply{Incarnation: incarnation, Nonce: 1},
		proto.PreVote{Incarnation: incarnation, Nonce: 1},
		proto.Vote{Incarnation: incarnation, Nonce: 1},
		proto.Heartbeat{Leader: steptest.Peer(2), Remaining: time.Second},
		proto.Release{Incarnation: incarnation},
	} {
		r := granted(t, nil)
		due := r.Last.Deadline
		r.Step(0, r.From(2, absurd, body))
		r.Want(algorithms.Output{
			Send:     r.All(0, proto.Recover{Incarnation: steptest.Incarnation(1)}),
			Deadline: due, Round: 1, Warn: true,
			Why: steptest.Why("lease.absurd(1048578, 1, " + body.Kind().String() + ")"),
		})
	}
	r := granted(t, nil)
	r.Step(promise, r.claim(2, absurd-1, 1))
	if r.Last.Save == nil || r.Last.Save.Vote.Term != absurd-1 {
		t.Errorf("a jump of 2^20 is granted: %+v", r.Last)
	}
}

// What is left of a lease counts from when that was sent: a process that was stopped, and
// reads then what was said to it meanwhile, knows of nobody who leads now. Who leads says so
// again.
func TestWhatWasSaidToAStoppedProcessIsOld(t *testing.T) {
	r := newRig(t, 4, nil)
	r.Start(0, 1, 2, 3, 4)
	r.Step(delta, r.holds(3, 1, leased))
	r.Step(9*time.Second, r.holds(3, 1, leased))
	r.Step(delta/2, r.holds(2, 2, leased)) // all of it has waited
	if l := r.Last.Leader; l.ID != 0 {
		t.Errorf("names %d, of a LEASE that came when this process was stopped", l.ID)
	}
	r.Step(delta, r.holds(2, 2, leased))
	if l := r.Last.Leader; l.ID != 2 || !l.Until.Equal(r.Now.Add(leased)) {
		t.Errorf("names %d, of a LEASE that came since", l.ID)
	}
	r.Step(promise/4, r.holds(2, 2, leased)) // the timer was for the end of the lease
	if l := r.Last.Leader; l.ID != 2 {
		t.Errorf("names %d: it was never stopped", l.ID)
	}
}
