package nomination_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// silence is how long a follower waits for the leader's next announcement.
const silence = 3 * 10 * delta

// answer is a message that neither calls an election nor announces a leader.
type answer struct{}

var kindAnswer = proto.NewKind[answer](198, "YES", "I have heard you", proto.Nominates)

func (answer) Kind() proto.Kind { return kindAnswer }
func (answer) String() string   { return kindAnswer.String() }
func (answer) Validate() error  { return nil }

// The shared rules are tested through the simplest Round.
func newRig(t *testing.T, self proto.NodeID) *steptest.Rig {
	return steptest.New(t, self, false, highest.New)
}

func coordinator(leader proto.NodeID) nomination.Coordinator {
	return nomination.Coordinator{Leader: steptest.Peer(leader)}
}

// follower is node self of five, following leader 5 in term 3.
func follower(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := newRig(t, self)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(delta, r.From(5, 3, coordinator(5)))
	if r.Last.Leader != steptest.Leads(5, 3) {
		t.Fatalf("does not follow: %+v", r.Last)
	}
	return r
}

// "A late or repeated message never undoes a newer term": a lower term is
// dropped and its sender told the current term and leader.
func TestLowerTermIsDroppedAndAnswered(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, r.From(4, 2, coordinator(4)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, 3, coordinator(5))},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(5, 3),
		Why:      steptest.Why("nomination.stale-tell(COORDINATOR, 2, 3, 4, 5)"),
	})
	r.Step(0, r.From(4, 2, answer{}))
	if len(r.Last.Send) != 0 || r.Last.Leader != steptest.Leads(5, 3) {
		t.Fatalf("an old answer needs no answer: %+v", r.Last)
	}
}

// A jump above 2^20 beyond one's own term is refused and flagged.
func TestAbsurdTermIsRefused(t *testing.T) {
	r := follower(t, 2)
	absurd := 3 + proto.MaxTermJump + 1
	r.Gives(0, r.From(4, absurd, coordinator(4)), "nomination.absurd-ask(1048580, 3, COORDINATOR)")
	if !r.Last.Warn || r.Last.Save != nil || r.Last.Leader != steptest.Leads(5, 3) {
		t.Fatalf("got %+v", r.Last)
	}
	r.Step(0, r.From(4, absurd-1, coordinator(4)))
	if r.Last.Warn || r.Last.Leader != steptest.Leads(4, absurd-1) {
		t.Fatalf("the largest jump allowed is not followed: %+v", r.Last)
	}
}

// Under a lease the voters decide what is believed: nobody else is asked.
func TestAbsurdTermUnderALease(t *testing.T) {
	r := steptest.New(t, 2, false, func(c algorithms.Config) algorithms.Machine {
		c.Promise = time.Second
		return highest.New(c)
	})
	r.Start(0, 1, 2, 3)
	out := r.Gives(0, r.From(3, proto.MaxTermJump+1, coordinator(3)), "nomination.absurd(1048577, 0, COORDINATOR)")
	if !out.Warn || len(out.Send) > 0 {
		t.Errorf("%+v", out)
	}
}

// A message that is not this node's, or claims to be, is dropped.
func TestMisrouted(t *testing.T) {
	r := follower(t, 2)
	m := proto.Message{From: 4, To: 3, Term: 3, Body: coordinator(4)}
	if out := r.Gives(0, algorithms.Receive{Message: m}, "nomination.misrouted(COORDINATOR, 4, 3, 2)"); !out.Warn {
		t.Errorf("%+v", out)
	}
}

// Only the leader hands over, and to this very process.
func TestTakeOverFromAnother(t *testing.T) {
	r := follower(t, 2)
	over := proto.TakeOver{Incarnation: steptest.Incarnation(4), To: steptest.Incarnation(2)}
	r.Gives(0, r.From(4, 3, over), "nomination.over-not-leader(4, 3)")
	former := proto.TakeOver{Incarnation: steptest.Incarnation(5), To: proto.Incarnation{99}}
	r.Gives(0, r.From(5, 3, former), "nomination.over-to-former(5)")
	if r.Last.Leader != steptest.Leads(5, 3) {
		t.Errorf("%+v", r.Last)
	}
}

// "It believes a term up to the highest that more than half of [the others that are alive]
// tell of, or a higher one, and the usual jump above": a node that knows nothing joins a
// cluster however far that is, and one hostile message neither moves it nor strands it.
func TestJumpsAreJudgedByMostOthers(t *testing.T) {
	const far = proto.MaxTermJump + 7
	r := newRig(t, 1)
	r.Start(0, 1, 2, 3, 4)
	tells := func(from proto.NodeID, term proto.Term) algorithms.Event {
		return r.From(from, term, proto.VoterState{Incarnation: steptest.Incarnation(1), Round: term})
	}
	r.Step(0, r.From(4, far, coordinator(4)))
	question := proto.Recover{Incarnation: steptest.Incarnation(1)}
	r.Sends(r.Last, r.Msg(2, 0, question), r.Msg(3, 0, question), r.Msg(4, 0, question))
	r.Step(0, r.From(4, far, coordinator(4)))
	r.Sends(r.Last) // once in a Delta
	r.Step(0, tells(4, proto.MaxTerm))
	r.Step(0, tells(9, far)) // which is not alive
	if r.Step(0, r.From(4, far, coordinator(4))); r.Last.Leader.ID != 0 {
		t.Fatal("believes one of three")
	}
	r.Step(0, tells(3, far))
	if r.Step(0, r.From(4, far, coordinator(4))); r.Last.Leader != steptest.Leads(4, far) {
		t.Errorf("does not follow: %+v", r.Last)
	}
	r.Step(0, r.From(2, 0, proto.Recover{Incarnation: steptest.Incarnation(2)}))
	r.Sends(r.Last, r.Msg(2, far, proto.VoterState{Incarnation: steptest.Incarnation(2), Round: far}))
}

// A message to another node, or from oneself, is refused.
func TestMisdirectedMessages(t *testing.T) {
	r := follower(t, 2)
	for _, m := range []proto.Message{
		{From: 4, To: 3, Term: 9, Body: coordinator(4)},
		{From: 2, To: 2, Term: 9, Body: coordinator(2)},
	} {
		r.Step(0, algorithms.Receive{Message: m})
		if !r.Last.Warn || r.Last.Leader != steptest.Leads(5, 3) {
			t.Fatalf("%+v: got %+v", m, r.Last)
		}
	}
}

// Two leaders that meet: the higher leadership stands, the other steps down at once.
func TestTwoLeadersMeet(t *testing.T) {
	lead := func(self proto.NodeID) *steptest.Rig {
		r := newRig(t, self)
		r.Start(0, self)
		r.Fire()
		if r.Last.Leader != steptest.Leads(self, 1) {
			t.Fatalf("%d does not lead alone: %+v", self, r.Last)
		}
		return r
	}

	low := lead(2)
	low.Step(0, low.From(4, 1, coordinator(4)))
	low.Want(algorithms.Output{
		Deadline: low.In(silence),
		Leader:   steptest.Leads(4, 1),
		Why: steptest.Why(
			"nomination.two-leaders(1, 4, 2)",
			"nomination.follow(4, 1)",
		),
	})

	high := lead(4)
	deadline := high.Last.Deadline
	high.Step(0, high.From(2, 1, coordinator(2)))
	high.Want(algorithms.Output{
		Send:     []proto.Message{high.Msg(2, 1, coordinator(4))},
		Deadline: deadline,
		Leader:   steptest.Leads(4, 1),
		Why:      steptest.Why("nomination.stands-over(4, 1, 2, 2)"),
	})
}

// A leader that repeats itself no more is doubted: the others are asked, one
// that vouches for it ends the doubt, and without one it is lost.
func TestSilentLeader(t *testing.T) {
	ask := func(r *steptest.Rig) {
		r.Fire()
		question := highest.Ask{Self: steptest.Peer(4)}
		r.Want(algorithms.Output{
			Send:     []proto.Message{r.Msg(1, 3, question), r.Msg(2, 3, question), r.Msg(3, 3, question)},
			Deadline: r.In(2 * delta),
			Leader:   steptest.Leads(5, 3),
			Why:      steptest.Why("nomination.doubt(5)"),
		})
	}
	vouched := follower(t, 4)
	ask(vouched)
	vouched.Step(delta, vouched.From(2, 3, coordinator(5)))
	vouched.Want(algorithms.Output{Deadline: vouched.In(silence), Leader: steptest.Leads(5, 3)})

	lost := follower(t, 4)
	ask(lost)
	lost.Fire()
	if lost.Last.Leader != steptest.Leads(0, 4) || lost.Last.Send[0].To != 5 ||
		steptest.Texts(lost.Last.Why)[0] != "nomination.call(nomination.silent(5), 4)" {
		t.Fatalf("got %+v", lost.Last)
	}
}

// Once the leader of a term was lost, a rival of that term that it stood over
// is not followed: "accepted only if its epoch is not below one's own".
func TestRivalOfALostLeaderIsNotFollowed(t *testing.T) {
	r := follower(t, 1)
	for range 4 { // until the next own round has to wait
		r.Step(0, steptest.Alive(1, 2, 3, 4))
		r.Step(0, steptest.Alive(1, 2, 3, 4, 5))
		r.Step(0, r.From(5, r.Last.Leader.Term, coordinator(5)))
	}
	term := r.Last.Leader.Term
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Step(0, r.From(4, term, coordinator(4)))
	if r.Last.Leader != steptest.Leads(0, term) || r.Last.Deadline.IsZero() {
		t.Fatalf("got %+v", r.Last)
	}
}

// A leader that did not hear that its term is over, of a node that stands
// aside, is told to take the next: otherwise nobody would.
func TestStaleLeaderIsToldByOneThatStandsAside(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, algorithms.Resign{})
	r.Step(0, r.From(4, 4, highest.Ask{Self: steptest.Peer(4)}))
	r.Step(0, r.From(5, 3, coordinator(5)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(5, 4, nomination.TimeoutNow{})},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(0, 4),
		Why:      steptest.Why("nomination.stale-must-take(COORDINATOR, 3, 4, 5)"),
	})
}

// "A joiner is told the leader by the leader", a new life of a node too.
func TestJoinerIsTold(t *testing.T) {
	r := newRig(t, 5)
	r.Start(0, 4, 5)
	r.Fire()
	deadline := r.Last.Deadline
	r.Step(0, steptest.Alive(3, 4, 5))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(3, 1, coordinator(5))},
		Deadline: deadline,
		Leader:   steptest.Leads(5, 1),
		Why:      steptest.Why("nomination.joined(3)"),
	})
	reborn := steptest.Peers(3, 4, 5)
	reborn[1].Incarnation = proto.Incarnation{99}
	r.Step(0, algorithms.PeersChanged{Alive: reborn})
	if len(r.Last.Send) != 1 || r.Last.Send[0].To != 4 {
		t.Fatalf("a new life of 4 must be told: %+v", r.Last)
	}
}

// A leader that comes back as another process is gone: its term is over.
func TestLeaderRestarted(t *testing.T) {
	r := follower(t, 4)
	reborn := steptest.Peers(1, 2, 3, 4, 5)
	reborn[4].Incarnation = proto.Incarnation{99}
	r.Step(0, algorithms.PeersChanged{Alive: reborn})
	if r.Last.Leader != steptest.Leads(0, 4) ||
		steptest.Texts(r.Last.Why)[0] != "nomination.call(nomination.gone(5), 4)" {
		t.Fatalf("got %+v", r.Last)
	}
}

// A node never stands in a term that its former life took part in.
func TestFormerLifesTermIsSpent(t *testing.T) {
	r := newRig(t, 5)
	r.Start(3, 1, 5)
	r.Step(0, r.From(1, 3, highest.Ask{Self: steptest.Peer(1)}))
	if r.Last.Leader != steptest.Leads(5, 4) {
		t.Fatalf("want node 5 to lead term 4, got %+v", r.Last)
	}
}

// A message of a round that ended before this node started may reach it late:
// it does not stand in a term that it found when it started.
func TestStarterDoesNotStandInTheTermItFinds(t *testing.T) {
	r := newRig(t, 5)
	r.Start(1, 1, 5)
	r.Step(0, r.From(1, 2, highest.Ask{Self: steptest.Peer(1)}))
	if r.Last.Leader != steptest.Leads(5, 3) {
		t.Fatalf("want node 5 to lead term 3, got %+v", r.Last)
	}
}

// An announcement that names a former life of this node is not for it.
func TestAnnouncementOfFormerLife(t *testing.T) {
	r := newRig(t, 5)
	r.Start(3, 1, 5)
	old := nomination.Coordinator{Leader: proto.Peer{ID: 5, Incarnation: proto.Incarnation{77}}}
	r.Step(0, r.From(1, 3, old))
	if r.Last.Leader.ID != 0 || r.Last.Deadline.IsZero() {
		t.Fatalf("got %+v", r.Last)
	}
}

// A hand-over is taken at once from the leader, and from nobody else.
func TestTimeoutNow(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, r.From(1, 3, nomination.TimeoutNow{}))
	if r.Last.Leader != steptest.Leads(5, 3) || len(r.Last.Send) != 0 {
		t.Fatalf("1 does not lead: %+v", r.Last)
	}
	r.Step(0, r.From(5, 3, nomination.TimeoutNow{}))
	if r.Last.Leader != steptest.Leads(4, 4) || len(r.Last.Send) != 4 {
		t.Fatalf("got %+v", r.Last)
	}
}

// A hand-over to a node that stands aside is passed on, once a term.
func TestTimeoutNowToOneThatStandsAside(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, algorithms.Resign{})
	r.Step(0, r.From(5, 3, nomination.TimeoutNow{}))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(3, 3, nomination.TimeoutNow{})},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(0, 3),
		Why:      steptest.Why("nomination.pass-on(5, 3)"),
	})
	r.Step(0, r.From(3, 3, nomination.TimeoutNow{}))
	if len(r.Last.Send) != 0 {
		t.Fatalf("passed on twice: %+v", r.Last)
	}
}

// Whoever is asked to lead the next term by a node that it does not follow
// calls a round: several may be asked at once.
func TestTimeoutNowWithoutALeader(t *testing.T) {
	r := follower(t, 3)
	r.Step(0, r.From(1, 7, nomination.TimeoutNow{}))
	if r.Last.Leader != steptest.Leads(0, 8) || len(r.Last.Send) != 1 ||
		r.Last.Send[0].Body != (highest.Ask{Self: steptest.Peer(3)}) {
		t.Fatalf("want a question to 5: %+v", r.Last)
	}
}

// A node that reaches others, while nobody reaches it, deposes no leader.
func TestElectionByAStrangerDeposesNobody(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, steptest.Alive(2, 3, 4, 5))
	r.Step(0, r.From(1, 4, highest.Ask{Self: steptest.Peer(1)}))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, 3, coordinator(5))},
		Deadline: r.In(silence),
		Leader:   steptest.Leads(5, 3),
		Why:      steptest.Why("nomination.stranger(ASK_TO_LEAD, 4, 5)"),
	})
}

// Promise: "a bound on the terms of this node is durable" before a message
// leaves, and raised "once the round is over": no failover waits for the disk.
func TestTermIsReservedAhead(t *testing.T) {
	r := newRig(t, 4)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(0, r.From(5, 1, coordinator(5)))
	if want := steptest.Save(1); r.Last.Save == nil || *r.Last.Save != *want {
		t.Fatalf("the first term saves %+v, want %+v", r.Last.Save, want)
	}
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	if r.Last.Leader != steptest.Leads(4, 2) || r.Last.Save != nil {
		t.Fatalf("node 4 does not lead at once: %+v", r.Last)
	}
	r.Fire()
	if want := steptest.Save(2); r.Last.Save == nil || *r.Last.Save != *want {
		t.Fatalf("the round is over, and saves %+v, want %+v", r.Last.Save, want)
	}
}

// A term that was not reserved, since rounds came too fast, cannot wait.
func TestTermBeyondTheReserveIsSavedAtOnce(t *testing.T) {
	r := newRig(t, 4)
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(0, r.From(5, 1, coordinator(5)))
	r.Step(0, r.From(5, 2, coordinator(5)))
	if r.Last.Save != nil {
		t.Fatalf("term 2 is reserved: %+v", r.Last)
	}
	r.Step(0, r.From(5, 3, coordinator(5)))
	if want := steptest.Save(3); r.Last.Save == nil || *r.Last.Save != *want {
		t.Fatalf("saves %+v, want %+v", r.Last.Save, want)
	}
}

// "A node never stands in a term that a former life of it may have taken part
// in." The best of all takes the next one at once; another asks, and leaps over
// no term that the best may be taking.
func TestReservedTermOfAFormerLife(t *testing.T) {
	for self, want := range map[proto.NodeID]proto.Term{4: 9, 3: 8} {
		r := newRig(t, self)
		r.Step(0, algorithms.Start{Saved: algorithms.State{Term: 7, Reserved: 8}})
		r.Step(0, steptest.Alive(1, 2, 3, 4, 5))
		r.Step(0, r.From(5, 7, coordinator(5)))
		r.Step(0, steptest.Alive(1, 2, 3, 4))
		if got := r.Last.Leader.Term; got != want || len(r.Last.Send) == 0 {
			t.Errorf("node %d calls term %d, want %d: %+v", self, got, want, r.Last)
		}
		if self == 4 {
			continue
		}
		r.Fire()
		if r.Last.Leader != steptest.Leads(0, 9) {
			t.Errorf("nobody answered, and node 3 is at %+v: it must call term 9", r.Last)
		}
	}
}

// The vote that was saved stays saved: a term is kept beside it, not over it.
func TestSavedVoteIsKept(t *testing.T) {
	r := newRig(t, 5)
	saved := algorithms.State{Term: 3, Reserved: 3, Vote: algorithms.Vote{Term: 2, ID: 4}}
	r.Step(0, algorithms.Start{Saved: saved})
	r.Step(0, r.From(4, 4, coordinator(4)))
	saved.Term, saved.Reserved = 4, 5
	if r.Last.Save == nil || *r.Last.Save != saved {
		t.Fatalf("saves %+v, want %+v", r.Last.Save, saved)
	}
}

// A joiner that is told who leads before its first view has its own rank.
func TestJoinerToldBeforeItsFirstView(t *testing.T) {
	r := steptest.New(t, 3, true, highest.New)
	r.Step(0, algorithms.Start{})
	r.Step(0, r.From(1, 1, coordinator(1)))
	strong := steptest.Peers(1, 3)
	strong[1].Attr = 99
	r.Step(0, algorithms.PeersChanged{Alive: strong})
	if r.Last.Deadline != r.In(nomination.HoldDown(delta)) {
		t.Fatalf("it ranks above the leader and must take over: %+v", r.Last)
	}
}

// An operator's Campaign after a long quiet does not bring the damping of an
// old series back.
func TestCampaignAfterQuietIsNotDamped(t *testing.T) {
	r := follower(t, 4)
	for range 8 {
		r.Step(0, algorithms.Campaign{Reason: "asked"})
		r.Step(0, r.From(5, r.Last.Leader.Term, coordinator(5)))
	}
	r.Step(2*nomination.Forget(delta), algorithms.Campaign{Reason: "asked"})
	r.Step(0, r.From(5, r.Last.Leader.Term, coordinator(5)))
	term := r.Last.Leader.Term
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	if r.Last.Leader != steptest.Leads(4, term+1) {
		t.Fatalf("want the loss answered at once, got %+v", r.Last)
	}
}

// The successor the operator names gets the hand-over; one that is not alive
// is replaced by the best.
func TestResignTo(t *testing.T) {
	for to, want := range map[proto.NodeID]proto.NodeID{2: 2, 0: 4, 9: 4} {
		r := newRig(t, 5)
		r.Start(0, 1, 2, 3, 4, 5)
		r.Fire()
		r.Step(0, algorithms.Resign{To: to})
		if len(r.Last.Send) != 1 || r.Last.Send[0].To != want || r.Last.Leader.ID != 0 {
			t.Fatalf("to %d: want hand-over to %d, got %+v", to, want, r.Last)
		}
	}
}

// The operator's Campaign ends standing aside.
func TestCampaignEndsStandingAside(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, algorithms.Resign{})
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	if r.Last.Leader.ID != 0 || r.Last.Deadline != r.In(silence) {
		t.Fatalf("aside, it waits for the others: %+v", r.Last)
	}
	r.Fire()
	if len(r.Last.Send) != 3 || steptest.Texts(r.Last.Why)[0] != "nomination.ask-others" {
		t.Fatalf("it must not wait for ever: %+v", r.Last)
	}
	r.Step(0, algorithms.Campaign{Reason: "asked by the operator"})
	if r.Last.Leader != steptest.Leads(4, 4) {
		t.Fatalf("got %+v", r.Last)
	}
}

// "A false alarm costs one round, not a storm": a detector that flaps makes
// rounds ever rarer, up to a bound.
func TestDamping(t *testing.T) {
	r := follower(t, 4)
	rounds := 0
	for range 1000 {
		before := r.Last.Leader.Term
		r.Step(0, steptest.Alive(1, 2, 3, 4))
		if r.Last.Leader.Term > before {
			rounds++
		}
		term := r.Last.Leader.Term
		r.Step(0, steptest.Alive(1, 2, 3, 4, 5))
		r.Step(delta, r.From(5, term+1, coordinator(5)))
	}
	// 100 s of one alarm a tenth of a second; the longest pause is 5 … 15 s.
	if rounds < 10 || rounds > 40 {
		t.Fatalf("%d rounds of %d alarms", rounds, 1000)
	}
	r.Step(nomination.Forget(delta)+time.Second, algorithms.Timeout{})
	before := r.Last.Leader.Term
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	if r.Last.Leader != steptest.Leads(4, before+1) {
		t.Fatalf("after a long quiet a loss is answered at once: %+v", r.Last)
	}
}

// BackOff: free rounds, then doubling, then the bound.
func TestBackOff(t *testing.T) {
	want := []time.Duration{0, 0, 0, 4, 8, 16, 32, 64, 100, 100}
	for i, w := range want {
		if got := nomination.BackOff(delta, i+1); got != w*delta {
			t.Errorf("round %d: %v, want %v", i+1, got, w*delta)
		}
	}
}

// Equal events in equal order give equal outputs, jitter included.
func TestStepIsPure(t *testing.T) {
	run := func() []algorithms.Output {
		var outs []algorithms.Output
		r := follower(t, 2)
		for i := range 20 {
			outs = append(outs, r.Step(delta, steptest.Alive(1, 2, 3, 4)))
			outs = append(outs, r.Step(delta, r.From(4, r.Last.Leader.Term+proto.Term(i%2), coordinator(4))))
			outs = append(outs, r.Step(delta, steptest.Alive(1, 2, 3)))
		}
		return outs
	}
	first, second := run(), run()
	for i := range first {
		r := steptest.New(t, 1, false, func(c algorithms.Config) algorithms.Machine { return nil })
		r.Last = first[i]
		r.Want(second[i])
	}
}

// A starting node listens for ten delta from when it first sees others: before, nobody
// could have told it who leads. Without any view it calls no election at all.
func TestStartListensToThoseItMet(t *testing.T) {
	r := newRig(t, 5)
	r.Step(0, algorithms.Start{})
	r.Step(nomination.StartDelay(delta), algorithms.Timeout{})
	if r.Last.Leader.ID != 0 || r.Last.Leader.Term != 0 {
		t.Fatalf("calls an election without a view: %+v", r.Last)
	}
	r.Step(delta, steptest.Alive(5))
	r.Step(8*delta, steptest.Alive(4, 5))
	if want := r.In(nomination.StartDelay(delta)); !r.Last.Deadline.Equal(want) {
		t.Errorf("listens until %v, want %v", r.Last.Deadline, want)
	}
	r.Step(delta, steptest.Alive(3, 4, 5)) // who comes next need not be waited for
	if want := r.In(nomination.StartDelay(delta) - delta); !r.Last.Deadline.Equal(want) {
		t.Errorf("listens until %v, want %v", r.Last.Deadline, want)
	}
	r.Step(delta, r.From(4, 3, coordinator(4)))
	if r.Last.Leader != steptest.Leads(4, 3) {
		t.Errorf("does not follow: %+v", r.Last)
	}
}

// A leader that resigns in favour of one that is not eligible hands over to another.
func TestSuccessorIsNotEligible(t *testing.T) {
	r := newRig(t, 3)
	r.Start(0, 1, 2, 3)
	for r.Last.Leader.ID != 3 {
		r.Fire()
	}
	peers := steptest.Peers(1, 2, 3)
	peers[1].Ineligible = true
	r.Step(0, algorithms.PeersChanged{Alive: peers})
	r.Gives(0, algorithms.Resign{To: 2},
		"nomination.successor-not-eligible(2)", "nomination.hand-over(nomination.resign, 1)")
	r.Sends(r.Last, r.Msg(1, r.Last.Leader.Term, nomination.TimeoutNow{}))
}

// A leader of a term that another led over it is not followed, once that one is lost.
func TestLeaderThatWasStoodOver(t *testing.T) {
	r := follower(t, 2)
	r.Step(0, algorithms.Resign{}) // nor does this node call the next term
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Gives(0, r.From(3, 3, coordinator(4)), "nomination.stood-over(5, 3, 4)")
	r.Sends(r.Last)
}

// A leader's number that is higher than all terms bounds the next election's. It moves no term that has a
// leader: nodes that know leaders of different terms would know different ones of one term.
func TestRaise(t *testing.T) {
	r := follower(t, 4)
	r.Machine.(interface{ Raise(term proto.Term) }).Raise(40)
	r.Step(delta, r.From(5, 3, coordinator(5)))
	if r.Last.Leader != steptest.Leads(5, 3) {
		t.Errorf("believes %+v", r.Last.Leader)
	}
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	if r.Last.Leader.Term != 41 {
		t.Errorf("calls an election of term %d", r.Last.Leader.Term)
	}
	r = newRig(t, 5) // while an election is under way, too
	r.Start(0, 1, 2, 3, 4, 5)
	r.Step(delta, algorithms.Campaign{Reason: "asked"})
	was := r.Last.Leader.Term
	r.Machine.(interface{ Raise(term proto.Term) }).Raise(40)
	r.Step(0, r.From(1, was, answer{}))
	if r.Last.Leader.Term != was {
		t.Errorf("the term of the election that is under way is %d, then %d", was, r.Last.Leader.Term)
	}
}
