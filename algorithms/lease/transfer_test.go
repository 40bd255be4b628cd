package lease_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

func (r *rig) offer(from proto.NodeID, term proto.Term, incarnation, to proto.Incarnation) algorithms.Event {
	return r.From(from, term, proto.Offer{Incarnation: incarnation, Nonce: 1, To: to})
}

func (r *rig) handsOver(from proto.NodeID, term proto.Term, incarnation, to proto.Incarnation) algorithms.Event {
	return r.From(from, term, proto.TakeOver{Incarnation: incarnation, To: to, Chosen: true})
}

// following3 is voter 3 that follows voter 2, which leads term 1.
func following3(t *testing.T) *rig {
	r := newRig(t, 3, nil)
	r.Start(0, 1, 2, 3)
	r.Step(0, r.claim(2, 1, 1))
	r.Step(0, r.holds(2, 1, leased))
	return r
}

// "Losing or leaving, in this order: not leader any more; guarded work stopped and
// drained; only then RELEASE or TIMEOUT_NOW."
func TestTransferOrder(t *testing.T) {
	r := holder3(t)
	r.Step(0, steptest.Alive(1, 2, 3))
	was := r.Last.Leader
	r.Step(0, algorithms.Transfer{To: 2})
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(2, 1, proto.Offer{Incarnation: steptest.Incarnation(3), Nonce: 1, To: steptest.Incarnation(2)}),
		},
		Deadline: r.Last.Deadline, Leader: was, Round: 1,
		Why: steptest.Why("lease.hand-over(2)"),
	})
	r.Step(0, r.replied(2, 1, 1, proto.NoDecline))
	nobody := algorithms.Leader{Term: 1}
	r.Want(algorithms.Output{
		Leader: nobody, Round: 1, Transfer: &algorithms.TransferEnd{To: 2},
		Why: steptest.Why("lease.step-down(lease.takes-over(2), 1)"),
	})
	r.Step(promise, algorithms.WorkStopped{Term: 1})
	r.Want(algorithms.Output{
		Send: append(r.All(1, proto.Release{Incarnation: steptest.Incarnation(3), Successor: 2}), r.Msg(2, 1,
			proto.TakeOver{Incarnation: steptest.Incarnation(3), To: steptest.Incarnation(2), Chosen: true})),
		Deadline: r.In(promise / 4), Leader: nobody, Round: 1,
		Why: steptest.Why(
			"lease.stopped(1)",
			"lease.yield(2)",
		),
	})
}

// Who left waits for others to lead; once one has, it waits no more. Else nobody would
// lead for a third of a promise when the next one leaves, or dies, at once.
func TestWhoLeftStandsAfterTheNext(t *testing.T) {
	r := holder3(t)
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, algorithms.Transfer{To: 2})
	r.Step(0, r.replied(2, 1, 1, proto.NoDecline))
	r.Step(0, algorithms.WorkStopped{Term: 1})
	r.Step(0, r.claim(2, 2, 1))
	r.Step(0, r.holds(2, 2, leased))
	r.nominee = steptest.Leads(3, 3)
	r.Step(delta, r.From(2, 2, proto.Release{Incarnation: steptest.Incarnation(2)}))
	if ask := r.All(3, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 3}); !slices.Equal(r.Last.Send, ask) {
		t.Errorf("%+v, want %+v", r.Last, ask)
	}
}

// A Step tells the end of one transfer: that of another, which the loss of leadership
// ends in it too, comes in the next. Whoever asked for either is told.
func TestTwoTransfersEnd(t *testing.T) {
	r := holder3(t)
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, algorithms.Transfer{To: 2})
	for _, want := range []algorithms.TransferEnd{
		{To: 1, Refused: "nobody leads; ask again once a node does"},
		{To: 2, Refused: "the leader leads no more; ask again once a node does"},
	} {
		if want.To == 1 {
			r.Step(leased, algorithms.Transfer{To: 1})
		} else {
			r.Fire()
		}
		if got := r.Last.Transfer; got == nil || *got != want {
			t.Errorf("told %+v, want %+v", got, want)
		}
	}
}

// A successor that would not, a wrong nonce, another process, another term, and no
// answer at all change nothing.
func TestTransferRefusedBySuccessor(t *testing.T) {
	for name, reply := range map[string]func(*rig) algorithms.Event{
		"declined":      func(r *rig) algorithms.Event { return r.replied(2, 1, 1, proto.DeclineBehind) },
		"another nonce": func(r *rig) algorithms.Event { return r.replied(2, 1, 2, proto.NoDecline) },
		"another voter": func(r *rig) algorithms.Event { return r.replied(1, 1, 1, proto.NoDecline) },
		"another term":  func(r *rig) algorithms.Event { return r.replied(2, 2, 1, proto.NoDecline) },
		"another life": func(r *rig) algorithms.Event {
			return r.From(2, 1, proto.Reply{Incarnation: proto.Incarnation{99}, Nonce: 1})
		},
		"none": func(*rig) algorithms.Event { return algorithms.Timeout{} },
	} {
		r := holder3(t)
		r.Step(0, steptest.Alive(1, 2, 3))
		r.Step(0, algorithms.Transfer{To: 2})
		r.Step(0, reply(r))
		if r.Last.Leader.ID != 3 {
			t.Errorf("%s: gave way", name)
		}
		ended := r.Last.Transfer
		if ended == nil { // then the time ends it
			r.Step(8*delta, algorithms.Timeout{})
			ended = r.Last.Transfer
		}
		if ended == nil || ended.To != 2 || ended.Refused == "" || r.Last.Leader.ID != 3 {
			t.Errorf("%s: ended %+v, %+v", name, ended, r.Last)
		}
	}
}

// offered is the question of node 3, which leads term 1, to another.
func (r *rig) offered(to proto.NodeID, nonce uint64) proto.Message {
	return r.Msg(to, 1, proto.Offer{Incarnation: steptest.Incarnation(3), Nonce: nonce, To: steptest.Incarnation(to)})
}

// "A leader hands over to a node that a majority answers, and to no other": one that is to
// leave asks the next best where the best would not lead, or does not answer, and who leads
// then is no operator's choice.
func TestWhoLeavesAsksOn(t *testing.T) {
	for name, next := range map[string]func(*rig) algorithms.Output{
		"declined": func(r *rig) algorithms.Output { return r.Step(0, r.replied(2, 1, 1, proto.DeclineMajority)) },
		"silent":   func(r *rig) algorithms.Output { return r.Step(8*delta, algorithms.Timeout{}) },
	} {
		r := holder3(t)
		r.Step(0, steptest.Alive(1, 2, 3))
		r.Sends(r.Step(0, algorithms.Transfer{Leaves: true}), r.offered(2, 1))
		out := next(r)
		if out.Send[0] != r.offered(1, 2) {
			t.Errorf("%s: sent %v", name, out.Send)
		}
		if out.Transfer != nil || out.Leader.ID != 3 {
			t.Errorf("%s: %+v", name, out)
		}
		if out = r.Step(0, r.replied(1, 1, 2, proto.NoDecline)); *out.Transfer != (algorithms.TransferEnd{To: 1}) {
			t.Errorf("%s: told %+v", name, out.Transfer)
		}
		out = r.Step(0, algorithms.WorkStopped{Term: 1})
		takeOver := proto.TakeOver{Incarnation: steptest.Incarnation(3), To: steptest.Incarnation(1)}
		if !slices.Contains(out.Send, r.Msg(1, 1, takeOver)) {
			t.Errorf("%s: sent %v, want %v among it", name, out.Send, takeOver)
		}
	}
}

// Where the successor that was named is dead, another will do.
func TestWhoLeavesToTheDead(t *testing.T) {
	r := holder3(t)
	r.Step(0, steptest.Alive(1, 3))
	r.Sends(r.Step(0, algorithms.Transfer{To: 2, Leaves: true}), r.offered(1, 1))
}

// Once nobody is left to ask it is told so, and leads on until it resigns.
func TestWhoLeavesFindsNobody(t *testing.T) {
	r := holder3(t)
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, algorithms.Transfer{Leaves: true})
	r.Step(0, r.replied(2, 1, 1, proto.DeclineMajority))
	out := r.Step(0, r.replied(1, 1, 2, proto.DeclineAside))
	if end := out.Transfer; end == nil || end.To != 1 || end.Refused == "" || out.Leader.ID != 3 {
		t.Errorf("%+v", out)
	}
	if out = r.Step(0, algorithms.Resign{}); out.Leader.ID != 0 {
		t.Errorf("%+v", out)
	}
}

// "The successor is asked first (is it alive, eligible, a voter, caught up with this
// term?)" It answers for the very process that is asked. Where nothing speaks against it the voters
// are asked before it says yes: the leader is one of them.
func TestOffered(t *testing.T) {
	mine, theirs := steptest.Incarnation(3), steptest.Incarnation(2)
	cases := []struct {
		name   string
		before algorithms.Event
		offer  func(*rig) algorithms.Event
		want   proto.Decline
	}{
		{"it would", nil, func(r *rig) algorithms.Event { return r.offer(2, 1, theirs, mine) }, proto.NoDecline},
		{"to a former life", nil, func(r *rig) algorithms.Event {
			return r.offer(2, 1, theirs, proto.Incarnation{99})
		}, proto.DeclineIncarnation},
		{"by a former life", nil, func(r *rig) algorithms.Event {
			return r.offer(2, 1, proto.Incarnation{99}, mine)
		}, proto.DeclineBehind},
		{"of a later term", nil, func(r *rig) algorithms.Event {
			return r.offer(2, 2, theirs, mine)
		}, proto.DeclineBehind},
		{"by another", nil, func(r *rig) algorithms.Event {
			return r.offer(1, 1, steptest.Incarnation(1), mine)
		}, proto.DeclineBehind},
		{"not eligible", algorithms.Eligible{Why: "sick"}, func(r *rig) algorithms.Event {
			return r.offer(2, 1, theirs, mine)
		}, proto.DeclineAside},
		{"resigned", algorithms.Resign{}, func(r *rig) algorithms.Event {
			return r.offer(2, 1, theirs, mine)
		}, proto.DeclineAside},
	}
	for _, c := range cases {
		r := following3(t)
		if c.before != nil {
			r.Step(0, c.before)
		}
		r.Step(0, c.offer(r))
		if c.want == proto.NoDecline {
			r.Sends(r.Last, r.All(2, proto.PreVote{Incarnation: mine, Nonce: 1})...)
			r.Step(delta, r.no(2, 1, 1, proto.DeniedStands, 2))
		}
		if len(r.Last.Send) != 1 {
			t.Errorf("%s: sent %v", c.name, r.Last.Send)
			continue
		}
		if reply, ok := r.Last.Send[0].Body.(proto.Reply); !ok || reply.No != c.want {
			t.Errorf("%s: %v, want %v", c.name, r.Last.Send[0].Body, c.want)
		}
	}
}

// "A successor says yes only if a majority answered it lately": what binds voters may be the
// promise to the leader that offers, and nothing else.
func TestSuccessorCouldWin(t *testing.T) {
	answer := func(denial proto.Denial, holder proto.NodeID) []algorithms.Event {
		r := newRig(t, 3, nil)
		return []algorithms.Event{
			r.no(5, 1, 9, denial, holder), r.no(1, 1, 1, denial, holder), r.no(1, 1, 1, denial, holder),
		}
	}
	for _, c := range []struct {
		name    string
		answers []algorithms.Event
		want    proto.Decline
	}{
		{"nobody else answers", nil, proto.DeclineMajority},
		{"promised to the leader", answer(proto.DeniedPromised, 2), proto.NoDecline},
		{"nothing binds it", answer(proto.NotDenied, 0), proto.NoDecline},
		{"voted in that term", answer(proto.DeniedVoted, 4), proto.NoDecline},
		{"promised to another", answer(proto.DeniedPromised, 4), proto.DeclineMajority},
		{"it has just started", answer(proto.DeniedStarted, 0), proto.DeclineMajority},
	} {
		r := newRig(t, 3, func(cfg *algorithms.Config) { cfg.Voters = []proto.NodeID{1, 2, 3, 4, 5} })
		r.Start(0, 1, 2, 3, 4, 5)
		r.Step(0, r.claim(2, 1, 1))
		r.Step(0, r.holds(2, 1, leased))
		r.Step(0, r.offer(2, 1, steptest.Incarnation(2), steptest.Incarnation(3)))
		offered := r.Now
		r.Step(delta, r.no(2, 1, 1, proto.DeniedStands, 2))
		for _, ev := range c.answers {
			if len(r.Last.Send) == 0 {
				r.Step(0, ev)
			}
		}
		if len(r.Last.Send) == 0 {
			r.Fire()
			if in := r.Now.Sub(offered); in != 4*delta {
				t.Errorf("%s: answers after %v", c.name, in)
			}
		}
		r.Sends(r.Last, r.Msg(2, 1, proto.Reply{Incarnation: steptest.Incarnation(2), Nonce: 1, No: c.want}))
		if r.Last.Leader.ID != 2 {
			t.Errorf("%s: follows %d", c.name, r.Last.Leader.ID)
		}
	}
}

// "Neither release nor proof ends that": a voter in its boot wait does not call the promise
// what keeps it from voting for another.
func TestBootWaitIsTold(t *testing.T) {
	r := newRig(t, 1, nil)
	r.Step(0, algorithms.Start{Saved: *voted(1, 3)})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, r.renew(3, 1, 7)) // its promise to that very process runs anew
	r.Step(0, r.ask(2, 2, 1))
	r.Sends(r.Last, r.Msg(2, 1, proto.PreVoteReply{
		Incarnation: steptest.Incarnation(2), Nonce: 1, Answer: proto.Answer{Denial: proto.DeniedStarted},
	}))
}

// TIMEOUT_NOW of the holder, to this very process, makes it stand at once; one that
// is late, or of or to a former life, does nothing.
func TestTakeOver(t *testing.T) {
	mine, theirs := steptest.Incarnation(3), steptest.Incarnation(2)
	r := following3(t)
	r.Step(0, r.handsOver(2, 1, theirs, mine))
	if ask := r.Last.Send; len(ask) != 2 || ask[0].Body.Kind() != proto.KindPreVote || ask[0].Term != 2 {
		t.Errorf("sent %v", ask)
	}
	for name, ev := range map[string]func(*rig) algorithms.Event{
		"to a former life": func(r *rig) algorithms.Event { return r.handsOver(2, 1, theirs, proto.Incarnation{99}) },
		"of a former life": func(r *rig) algorithms.Event { return r.handsOver(2, 1, proto.Incarnation{99}, mine) },
		"of another term":  func(r *rig) algorithms.Event { return r.handsOver(2, 2, theirs, mine) },
		"by another":       func(r *rig) algorithms.Event { return r.handsOver(1, 1, steptest.Incarnation(1), mine) },
	} {
		r := following3(t)
		was := r.Last.Leader
		r.Step(0, ev(r))
		if len(r.Last.Send) > 0 || r.Last.Leader != was {
			t.Errorf("%s: %+v", name, r.Last)
		}
	}
}

// "After three failed claims a node marks itself ineligible for a while so that
// nominators skip it."
func TestBackOff(t *testing.T) {
	r := newRig(t, 3, nil)
	r.Start(0, 1, 2, 3)
	r.nominate(0, 3, 1)
	for range 3 {
		for r.Last.Send == nil || r.Last.Send[0].Body.Kind() != proto.KindPreVote {
			r.Fire()
		}
		nonce := r.Last.Send[0].Body.(proto.PreVote).Nonce
		r.Step(0, r.Yes(1, nonce))
		r.Fire() // no grant came
	}
	if r.Last.Ineligible != "three candidacies in a row failed" {
		t.Fatalf("after three claims: %+v", r.Last)
	}
	began := r.Now
	for r.Last.Ineligible != "" {
		r.Fire()
	}
	if in := r.Now.Sub(began); in != promise {
		t.Errorf("stands again after %v", in)
	}
}

// "What keeps a node from leading lasts about as long as its cause, and never when nobody else
// can": a back-off ends when no other could stand any more, and none begins then.
func TestBackOffLeavesItToSomebody(t *testing.T) {
	for _, gone := range []struct{ before, after bool }{{before: true}, {after: true}} {
		r := newRig(t, 3, nil)
		r.Start(0, 1, 2, 3)
		r.nominate(0, 3, 1)
		barred := algorithms.PeersChanged{Alive: steptest.Peers(1, 2, 3)}
		barred.Alive[0].Ineligible, barred.Alive[1].Ineligible = true, true
		if gone.before {
			r.Step(0, barred)
		}
		for range 3 {
			for r.Last.Send == nil || r.Last.Send[0].Body.Kind() != proto.KindPreVote {
				r.Fire()
			}
			nonce := r.Last.Send[0].Body.(proto.PreVote).Nonce
			r.Step(0, r.Yes(1, nonce))
			r.Fire() // no grant came
		}
		if backsOff := r.Last.Ineligible != ""; backsOff == gone.before {
			t.Fatalf("%+v: %+v", gone, r.Last)
		}
		r.Step(0, barred)
		if r.Last.Ineligible != "" || gone.after && steptest.Texts(r.Last.Why)[0] != "lease.alone" {
			t.Errorf("%+v: %+v", gone, r.Last)
		}
	}
}
