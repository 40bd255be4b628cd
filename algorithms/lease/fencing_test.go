package lease_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

func fences(c *algorithms.Config) { c.Fence = true }

// held are terms that first lives were granted.
func held(terms map[proto.NodeID]proto.Term) proto.Leaderships {
	var all []proto.Leadership
	for id := proto.NodeID(1); id <= 5; id++ {
		if term, ok := terms[id]; ok {
			all = append(all, proto.Leadership{Term: term, Leader: id, Incarnation: steptest.Incarnation(id)})
		}
	}
	return proto.PackLeaderships(all)
}

// account is what the VOTE of the last Step tells.
func (r *rig) account(t *testing.T) proto.Leaderships {
	t.Helper()
	for _, m := range r.Last.Send {
		if g, ok := m.Body.(proto.Vote); ok {
			return g.Former
		}
	}
	t.Fatalf("no VOTE in %+v", r.Last)
	return ""
}

// "A voter keeps whom it granted a term and has not seen to stop", durably, and
// its VOTE tells. Seen are RELEASE, a proven death, and a later leadership.
func TestAccount(t *testing.T) {
	three := held(map[proto.NodeID]proto.Term{3: 1})
	for name, c := range map[string]struct {
		config func(*algorithms.Config)
		events func(*rig) []algorithms.Event
		want   proto.Leaderships
	}{
		"nothing was seen": {fences, func(*rig) []algorithms.Event { return nil }, three},
		"no fencing":       {nil, func(*rig) []algorithms.Event { return nil }, ""},
		"released": {fences, func(r *rig) []algorithms.Event {
			return []algorithms.Event{r.Release(3, 1)}
		}, ""},
		"released an older term": {fences, func(r *rig) []algorithms.Event {
			return []algorithms.Event{r.Release(3, 0)}
		}, three},
		"proven dead": {fences, func(*rig) []algorithms.Event {
			return []algorithms.Event{algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)}}
		}, ""},
		"another life proven dead": {fences, func(*rig) []algorithms.Event {
			return []algorithms.Event{algorithms.PeerProvenDead{ID: 3, Incarnation: proto.Incarnation{99}}}
		}, three},
		"proven dead, to a voter that believes no proof": {func(c *algorithms.Config) {
			c.Fence, c.AwaitLeases = true, true
		}, func(*rig) []algorithms.Event {
			return []algorithms.Event{algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)}}
		}, three},
		"a later leadership": {fences, func(r *rig) []algorithms.Event {
			return []algorithms.Event{r.holds(2, 2, time.Second)}
		}, ""},
	} {
		r := granted(t, c.config)
		for _, ev := range c.events(r) {
			r.Step(0, ev)
		}
		r.Step(promise, r.claim(2, 3, 1))
		if got := r.account(t); got != c.want {
			t.Errorf("%s: the VOTE tells of %v, want %v", name, got.All(), c.want.All())
		}
		if got := r.Last.Save.Former; got != c.want {
			t.Errorf("%s: saved %v, want %v", name, got.All(), c.want.All())
		}
	}
}

// The account outlives the voter, and adds up over candidates of which nothing
// was heard: any of them may lead. Of one id the last life counts.
func TestAccountAddsUp(t *testing.T) {
	r := granted(t, fences)
	r.Step(promise, r.claim(2, 2, 1))
	saved := *r.Last.Save
	r = newRig(t, 1, fences)
	r.Step(0, algorithms.Start{Saved: saved})
	again := proto.Incarnation{33}
	r.Step(boot, r.From(3, 3, proto.RequestVote{Incarnation: again, Nonce: 1}))
	if got, want := r.account(t), held(map[proto.NodeID]proto.Term{2: 2}); got != want {
		t.Errorf("its next life is told of %v, want %v", got.All(), want.All())
	}
	r.Step(promise, r.claim(2, 4, 1))
	want := proto.PackLeaderships([]proto.Leadership{{Term: 3, Leader: 3, Incarnation: again}})
	if got := r.account(t); got != want {
		t.Errorf("told of %v, want %v", got.All(), want.All())
	}
}

// claimingFenced is voter 2 of a cluster that fences, nominated in term 2 and
// claiming it; 1 and 3 live, and 3 ranks above.
func claimingFenced(t *testing.T) *rig {
	r := newRig(t, 2, fences)
	r.Start(0, 1, 2, 3)
	r.nominate(delta, 2, 2)
	r.Step(0, r.Yes(1, 1))
	r.Want(algorithms.Output{
		Save:     voted(2, 2),
		Send:     r.All(2, proto.RequestVote{Incarnation: steptest.Incarnation(2), Nonce: 2}),
		Deadline: r.In(8 * delta),
		Round:    2,
		Why:      steptest.Why("lease.candidate(2)"),
	})
	return r
}

// tells is a VOTE of voter 1 with its account.
func (r *rig) tells(nonce uint64, former proto.Leaderships) algorithms.Event {
	return r.From(1, 2, proto.Vote{Incarnation: steptest.Incarnation(2), Nonce: nonce, Former: former})
}

// fencing is voter 2 that has 3 fenced, which voter 1 told it of.
func fencing(t *testing.T) *rig {
	r := claimingFenced(t)
	r.Step(delta, r.tells(2, held(map[proto.NodeID]proto.Term{3: 1})))
	r.Want(algorithms.Output{
		Deadline: r.In(4 * delta), // two rounds of answers: 3 ranks above
		Round:    2,
		Why:      steptest.Why(`lease.fence-first(2, "3 of term 1 was")`),
	})
	r.Fire()
	r.Want(algorithms.Output{
		Deadline: r.In(promise/4 - 5*delta),
		Round:    2,
		Why:      steptest.Why("lease.fence(3, 1, 1)"),
		Fence:    shot(1),
	})
	return r
}

func shot(attempt int) *algorithms.Fence {
	return &algorithms.Fence{
		ID: 3, Incarnation: steptest.Incarnation(3), Term: 1, For: 2, Attempt: attempt,
		Reason: "it may hold term 1 and was not seen to stop",
	}
}

// holdsTerm2 checks that voter 2 leads, and has the agent at
// nothing any more.
func (r *rig) holdsTerm2(t *testing.T, why ...string) {
	t.Helper()
	if r.Last.Leader.ID != 2 || r.Last.Leader.Term != 2 || r.Last.Fence != nil ||
		!slices.Equal(steptest.Texts(r.Last.Why), append(why, "lease.former-stopped")) {
		t.Errorf("got %+v", r.Last)
	}
}

// "Confirm before promote": the nominee leads when the agent confirms, and not
// before, however long that takes.
func TestFencesFirst(t *testing.T) {
	r := fencing(t)
	for nonce := uint64(3); nonce < 13; nonce++ { // ten rounds of RENEW: more than three leases
		r.Fire()
		if r.Last.Leader.ID != 0 || len(r.Last.Send) != 2 || r.Last.Fence == nil || *r.Last.Fence != *shot(1) {
			t.Fatalf("got %+v", r.Last)
		}
		r.Step(delta, r.tells(nonce, held(map[proto.NodeID]proto.Term{3: 1})))
	}
	r.Step(0, algorithms.Fenced{Fence: *shot(1), OK: true, Detail: "exit 0 after 10s"})
	r.holdsTerm2(t, `lease.fenced(3, "exit 0 after 10s")`)
}

// A fresh cluster has nobody to fence.
func TestNobodyToFence(t *testing.T) {
	r := claimingFenced(t)
	r.Step(delta, r.tells(2, ""))
	if r.Last.Leader.ID != 2 || r.Last.Fence != nil {
		t.Errorf("got %+v", r.Last)
	}
}

// "Seen are: whoever granted this term; who released the term, or is proven
// dead": the agent is called back, and the nominee leads.
func TestSeenToStop(t *testing.T) {
	for name, ev := range map[string]func(*rig) algorithms.Event{
		"released": func(r *rig) algorithms.Event { return r.Release(3, 1) },
		"proven dead": func(*rig) algorithms.Event {
			return algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)}
		},
		"granted this term": func(r *rig) algorithms.Event {
			return r.From(3, 2, proto.Vote{Incarnation: steptest.Incarnation(2), Nonce: 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := fencing(t)
			r.Step(0, ev(r))
			n := len(r.Last.Why)
			if n < 2 {
				t.Fatalf("got %+v", r.Last)
			}
			r.Last.Why = r.Last.Why[n-2:]
			r.holdsTerm2(t, "lease.call-back(3)")
		})
	}
	r := fencing(t)
	r.Step(0, r.Release(3, 0)) // an older term says nothing of the last
	if r.Last.Fence == nil {
		t.Errorf("got %+v", r.Last)
	}
}

// A failed attempt is made again, ever more rarely; after the third leadership is
// left to others for so long that each may stand.
func TestFencingFails(t *testing.T) {
	r := fencing(t)
	for attempt := 1; attempt <= 2; attempt++ {
		r.Step(delta, algorithms.Fenced{Fence: *shot(attempt), Detail: "exit 1 after 4ms"})
		if r.Last.Fence != nil || !r.Last.Warn || r.Last.Leader.ID != 0 ||
			!strings.HasPrefix(steptest.Texts(r.Last.Why)[0],
				`lease.fence-again(3, "exit 1 after 4ms", `) {
			t.Fatalf("attempt %d: %+v", attempt, r.Last)
		}
		again := r.Last.Deadline
		for r.Last.Fence == nil {
			r.Fire()
			for _, m := range r.Last.Send {
				if b, ok := m.Body.(proto.Heartbeat); ok && m.To == 1 {
					r.Step(0, r.tells(b.Nonce, ""))
				}
			}
		}
		if *r.Last.Fence != *shot(attempt + 1) || r.Now.Before(again) {
			t.Fatalf("after attempt %d: %+v", attempt, r.Last)
		}
	}
	r.Step(0, algorithms.Fenced{Fence: *shot(3), Detail: "exit 1 after 4ms"})
	const pause = stand + 3*4*delta + 4*delta // all three have stood by then
	r.Want(algorithms.Output{
		Send:     r.All(2, proto.Release{Incarnation: steptest.Incarnation(2)}),
		Deadline: r.In(pause),
		Round:    2,
		Warn:     true,
		Why: steptest.Why(
			`lease.not-fenced(3, "exit 1 after 4ms")`,
			`lease.give-up(lease.fences-failed(3, 3), 2, 5.44s)`,
		),
	})
}

// "Nobody has another shot but with the promises of a majority": when they end,
// the agent is called back and the term given up.
func TestFencesWithAMajorityOnly(t *testing.T) {
	r := fencing(t)
	for r.Last.Fence != nil {
		if r.Now.After(steptest.Zero.Add(2 * promise)) {
			t.Fatal("it shoots on")
		}
		r.Fire()
	}
	if r.Last.Leader.ID != 0 ||
		!strings.HasPrefix(steptest.Texts(r.Last.Why)[0], "lease.give-up(lease.promises-end, 2, ") {
		t.Errorf("got %+v", r.Last)
	}
}

// What the agent says to a question that is not asked any more counts for nothing.
func TestLateAnswerOfTheAgent(t *testing.T) {
	r := fencing(t)
	other := *shot(1)
	other.For = 1
	r.Gives(0, algorithms.Fenced{Fence: other, OK: true}, "lease.fenced-late(1, 3, 1)")
	if r.Last.Leader.ID != 0 || r.Last.Fence == nil || *r.Last.Fence != *shot(1) {
		t.Errorf("got %+v", r.Last)
	}
}

// fencing3 is node 3, which was granted term 2 by 1 and has an agent at the former holder 2.
func fencing3(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 3, fences)
	r.Begin()
	r.Step(0, steptest.Alive(1, 2, 3))
	r.nominate(delta, 3, 2)
	r.Step(0, r.Yes(1, 1))
	former := held(map[proto.NodeID]proto.Term{2: 1})
	r.Step(delta, r.From(1, 2, proto.Vote{Incarnation: steptest.Incarnation(3), Nonce: 2, Former: former}))
	r.Fire()
	if r.Last.Fence == nil {
		t.Fatalf("%+v", r.Last)
	}
	return r
}

// renews lets time pass until the round of this nonce is under way.
func (r *rig) renews(t *testing.T, nonce uint64) {
	t.Helper()
	renew := r.Msg(1, r.Last.Round, proto.RequestVote{Incarnation: steptest.Incarnation(r.Self), Nonce: nonce})
	for range 10 {
		if r.Fire(); slices.Contains(r.Last.Send, renew) {
			return
		}
	}
	t.Fatalf("no round %d: %+v", nonce, r.Last)
}

// "Whatever its round, who granted the term has stopped": the agent is called back.
func TestSuspectGrantsLate(t *testing.T) {
	r := fencing3(t)
	r.renews(t, 3)
	r.Step(delta, r.granted(2, 2, 2))
	if r.Last.Fence != nil || r.Last.Leader != steptest.Leads(3, 2) && r.Last.Leader.ID != 3 {
		t.Errorf("%+v", r.Last)
	}
}
