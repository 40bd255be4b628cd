package consensus_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/consensus"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// follower is one of five that follows node 5 in term 4.
func follower(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, steptest.Among(consensus.New, 1, 2, 3, 4, 5))
	r.Start(3, 1, 2, 3, 4, 5)
	r.Step(delta, r.From(5, 4, chosen(5, true)))
	r.Step(consensus.Patience(delta, 5), algorithms.Timeout{})
	if r.Last.Leader != steptest.Leads(5, 4) {
		t.Fatal(steptest.Texts(r.Last.Why))
	}
	return r
}

// preparing is node 4, which prepares ballot 1.4 of term 5 after the leader died.
func preparing(t *testing.T) *steptest.Rig {
	r := follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	return r
}

func chosen(id proto.NodeID, taken bool) consensus.Chosen {
	return consensus.Chosen{Leader: steptest.Peer(id), Taken: taken}
}

func ballot(round uint64, by proto.NodeID) paxos.Ballot {
	return paxos.Ballot{Round: round, By: by}
}

func prepare(b paxos.Ballot) consensus.Prepare { return consensus.Prepare{Ballot: b} }

func promise(b paxos.Ballot, from proto.NodeID) consensus.Promise {
	return consensus.Promise{Ballot: b, Proposal: steptest.Peer(from)}
}

func accept(b paxos.Ballot, value proto.NodeID) consensus.Accept {
	return consensus.Accept{Ballot: b, Value: steptest.Peer(value)}
}

// to is one body to several nodes.
func to(r *steptest.Rig, term proto.Term, body proto.Body, ids ...proto.NodeID) (all []proto.Message) {
	for _, id := range ids {
		all = append(all, r.Msg(id, term, body))
	}
	return all
}

// "A proposer selects a proposal number n and sends a prepare request with number n."
func TestPrepares(t *testing.T) {
	r := preparing(t)
	r.Want(algorithms.Output{
		Send:     to(r, 5, prepare(ballot(1, 4)), 1, 2, 3),
		Deadline: r.In(consensus.AnswerTimeout(delta)),
		Leader:   steptest.Leads(0, 5),
		Why: steptest.Why(
			"nomination.call(nomination.gone(5), 5)", "consensus.prepare(1.4)",
		),
	})
}

// The others leave the proposing to those above them, for a while.
func TestListens(t *testing.T) {
	r := follower(t, 2)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Deadline: r.In(consensus.ListenTimeout(delta, 2)),
		Leader:   steptest.Leads(0, 5),
		Why: steptest.Why(
			"nomination.call(nomination.gone(5), 5)", "consensus.leave(2)",
		),
	})
	r.Sends(r.Fire(), to(r, 5, prepare(ballot(1, 2)), 1, 3, 4)...)
}

// "If the proposer receives a response from a majority of acceptors, then it sends an
// accept request": of five three, its own included, each counted once, voters only.
func TestMajorityOfPromises(t *testing.T) {
	r := preparing(t)
	b := ballot(1, 4)
	r.Sends(r.Step(0, r.From(1, 5, promise(b, 1))))
	r.Sends(r.Step(0, r.From(1, 5, promise(b, 1))))
	r.Sends(r.Step(0, r.From(2, 5, promise(ballot(1, 3), 2))))
	if out := r.Step(0, r.From(9, 5, promise(b, 9))); !out.Warn || len(out.Send) > 0 {
		t.Errorf("a stranger's promise: %v", steptest.Texts(out.Why))
	}
	r.Sends(r.Step(0, r.From(2, 5, promise(b, 2))), to(r, 5, accept(b, 4), 1, 2, 3)...)
}

// "Each process proposes a value": the highest of the proposals, and those above are
// waited for, not for ever.
func TestTakesTheHighestProposal(t *testing.T) {
	b := ballot(1, 2)
	r := follower(t, 2)
	r.Step(delta, algorithms.Campaign{Reason: "test"})
	r.Step(0, r.From(1, 5, promise(b, 1)))
	r.Sends(r.Step(0, r.From(3, 5, promise(b, 3)))) // 4 and 5 are above
	r.Sends(r.Step(0, r.From(5, 5, promise(b, 5))), to(r, 5, accept(b, 5), 1, 3, 4, 5)...)

	r = follower(t, 2)
	r.Step(delta, algorithms.Campaign{Reason: "test"})
	r.Step(0, r.From(1, 5, promise(b, 1)))
	r.Step(0, r.From(3, 5, promise(b, 3)))
	r.Sends(r.Fire(), to(r, 5, accept(b, 3), 1, 3, 4, 5)...)
}

// "v is the value of the highest-numbered proposal among the responses."
func TestTakesOverWhatMayBeChosen(t *testing.T) {
	r := preparing(t)
	r.Step(0, r.From(3, 5, prepare(ballot(1, 3)))) // lower: no answer
	r.Sends(r.Last)
	r.Sends(r.Step(0, r.From(3, 5, prepare(ballot(3, 3)))),
		r.Msg(3, 5, promise(ballot(3, 3), 4))) // it is outbid
	r.Sends(r.Fire(), to(r, 5, prepare(ballot(4, 4)), 1, 2, 3)...)
	b := ballot(4, 4)
	first, second := promise(b, 1), promise(b, 2)
	first.Last, first.Accepted = ballot(2, 2), steptest.Peer(2)
	second.Last, second.Accepted = ballot(1, 3), steptest.Peer(3)
	r.Step(0, r.From(1, 5, first))
	r.Sends(r.Last)
	r.Sends(r.Step(0, r.From(2, 5, second)), to(r, 5, accept(b, 2), 1, 2, 3)...)
}

// "That lucky Pi is the new leader!": this process, once a majority accepted it.
func TestChosen(t *testing.T) {
	r := preparing(t)
	b := ballot(1, 4)
	r.Step(0, r.From(1, 5, promise(b, 1)))
	r.Step(0, r.From(2, 5, promise(b, 2)))
	accepted := consensus.Accepted{Ballot: b}
	r.Sends(r.Step(0, r.From(1, 5, accepted)))
	r.Sends(r.Step(0, r.From(1, 5, accepted)))
	if out := r.Step(0, r.From(9, 5, accepted)); !out.Warn || out.Leader.ID != 0 {
		t.Errorf("a stranger's: %v", steptest.Texts(out.Why))
	}
	out := r.Step(0, r.From(3, 5, accepted))
	r.Sends(out, to(r, 5, chosen(4, true), 1, 2, 3)...)
	if out.Leader != steptest.Leads(4, 5) {
		t.Errorf("%+v", out.Leader)
	}
}

// Another that was chosen is told, and leads before anybody follows it.
func TestAnotherIsChosen(t *testing.T) {
	b := ballot(1, 2)
	r := follower(t, 2)
	r.Step(delta, algorithms.Campaign{Reason: "test"})
	for _, id := range []proto.NodeID{1, 3, 5} {
		r.Step(0, r.From(id, 5, promise(b, id)))
	}
	r.Step(0, r.From(1, 5, consensus.Accepted{Ballot: b}))
	out := r.Step(0, r.From(3, 5, consensus.Accepted{Ballot: b}))
	r.Sends(out, r.Msg(5, 5, chosen(5, false)))
	if out.Leader.ID != 0 {
		t.Error("follows one that does not lead yet")
	}
	if out := r.Fire(); out.Leader.Term != 6 {
		t.Errorf("waits on: %v", steptest.Texts(out.Why))
	}

	r = follower(t, 3)
	r.Step(0, r.From(2, 5, prepare(b)))
	r.Sends(r.Step(0, r.From(2, 5, chosen(4, false))))
	out = r.Step(0, r.From(2, 5, chosen(3, false)))
	if out.Leader != steptest.Leads(3, 5) || len(out.Send) != 4 {
		t.Errorf("%+v", out)
	}
}

// "A promise not to accept any more proposals numbered less than n and with the
// highest-numbered proposal that it has accepted."
func TestAcceptor(t *testing.T) {
	r := follower(t, 1)
	r.Sends(r.Step(delta, r.From(3, 5, prepare(ballot(2, 3)))), r.Msg(3, 5, promise(ballot(2, 3), 1)))
	r.Sends(r.Step(0, r.From(4, 5, prepare(ballot(1, 4)))))
	r.Sends(r.Step(0, r.From(4, 5, accept(ballot(1, 4), 4))))
	r.Sends(r.Step(0, r.From(3, 5, accept(ballot(2, 3), 3))), r.Msg(3, 5, consensus.Accepted{Ballot: ballot(2, 3)}))
	again := promise(ballot(3, 4), 1)
	again.Last, again.Accepted = ballot(2, 3), steptest.Peer(3)
	r.Sends(r.Step(0, r.From(4, 5, prepare(ballot(3, 4)))), r.Msg(4, 5, again))
	// Not even when it stood aside meanwhile; then it proposes nothing.
	r.Step(0, algorithms.Resign{})
	again.Ballot, again.Proposal = ballot(4, 4), proto.Peer{}
	r.Sends(r.Step(0, r.From(3, 5, prepare(ballot(2, 3)))))
	r.Sends(r.Step(0, r.From(4, 5, prepare(ballot(4, 4)))), r.Msg(4, 5, again))
	if out := r.Step(0, r.From(4, 5, prepare(ballot(9, 3)))); !out.Warn || len(out.Send) > 0 {
		t.Errorf("another's ballot: %v", steptest.Texts(out.Why))
	}
}

// It takes part in no term that a former life may have taken part in.
func TestFormerLife(t *testing.T) {
	r := steptest.New(t, 1, false, steptest.Among(consensus.New, 1, 2, 3))
	r.Step(0, algorithms.Start{Saved: algorithms.State{Term: 4, Reserved: 5}})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Sends(r.Step(0, r.From(3, 5, prepare(ballot(1, 3)))))
	r.Sends(r.Step(0, r.From(3, 5, accept(ballot(1, 3), 3))))
	out := r.Step(0, r.From(3, 6, prepare(ballot(1, 3))))
	if len(out.Send) != 1 || out.Save == nil || out.Save.Reserved < 6 {
		t.Errorf("%+v", out)
	}
}

// Without a majority the term ends.
func TestNoMajority(t *testing.T) {
	r := preparing(t)
	if out := r.Fire(); steptest.Texts(out.Why)[0] != "nomination.call(consensus.no-promises, 6)" {
		t.Errorf("%v", steptest.Texts(out.Why))
	}
	b := ballot(1, 4)
	r.Step(0, r.From(1, 6, promise(b, 1)))
	r.Step(0, r.From(2, 6, promise(b, 2)))
	if out := r.Fire(); steptest.Texts(out.Why)[0] != "nomination.call(consensus.no-accepts, 7)" {
		t.Errorf("%v", steptest.Texts(out.Why))
	}
}

// Asked to lead, it proposes itself, and no other.
func TestAskedToLead(t *testing.T) {
	r := follower(t, 1)
	out := r.Step(delta, r.From(5, 4, nomination.TimeoutNow{}))
	b := ballot(1, 1)
	if out.Leader != steptest.Leads(0, 5) || len(out.Send) != 4 {
		t.Errorf("%+v", out)
	}
	r.Step(0, r.From(3, 5, promise(b, 3)))
	r.Sends(r.Step(0, r.From(4, 5, promise(b, 4))), to(r, 5, accept(b, 1), 2, 3, 4, 5)...)
}

// Who asks is told who leads; if nobody does, this process sees to it.
func TestEnquiry(t *testing.T) {
	r := follower(t, 4)
	r.Step(0, r.From(5, 4, chosen(5, true)))
	ask := consensus.Enquiry{Self: steptest.Peer(1)}
	r.Sends(r.Step(0, r.From(1, 4, ask)), r.Msg(1, 4, chosen(5, true)))
	r.Sends(r.Step(0, r.From(1, 5, ask)), to(r, 5, prepare(ballot(1, 4)), 1, 2, 3, 5)...)
	if out := r.Step(0, r.From(1, 5, steptest.Foreign{})); !out.Warn {
		t.Errorf("a body of another algorithm: %+v", out)
	}
}

// "Reports whether this node asks to be nominated": from PREPARE until the end of its
// ballot, unless it waits for a better proposal, or was told of one, or of a value that
// may be chosen already.
func TestContends(t *testing.T) {
	r := follower(t, 4)
	contends := func(want bool, when string) {
		t.Helper()
		if r.Machine.(*nomination.Core).Contends() != want {
			t.Errorf("%s: %v", when, !want)
		}
	}
	contends(false, "it follows")
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	contends(true, "it prepares")
	r.Step(0, r.From(1, 5, promise(ballot(1, 4), 1)))
	r.Step(0, r.From(2, 5, promise(ballot(1, 4), 2)))
	contends(true, "it asks to accept")
	r.Step(0, r.From(1, 5, consensus.Accepted{Ballot: ballot(1, 4)}))
	r.Step(0, r.From(2, 5, consensus.Accepted{Ballot: ballot(1, 4)}))
	contends(false, "it leads")

	r = follower(t, 2)
	r.Step(delta, algorithms.Campaign{Reason: "test"})
	contends(false, "those above may propose themselves")
	for _, id := range []proto.NodeID{1, 3, 5} {
		r.Step(0, r.From(id, 5, promise(ballot(1, 2), id)))
	}
	contends(false, "it asks to accept another")

	r = follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	bound := promise(ballot(1, 4), 1)
	bound.Last, bound.Accepted = ballot(1, 3), steptest.Peer(3)
	r.Step(0, r.From(1, 5, bound))
	contends(false, "another may be chosen already")
	r.Step(0, r.From(3, 5, prepare(ballot(3, 3))))
	contends(false, "it is outbid")
}

// "A majority of voters": what others answer, and what a node says in another's ballot, counts
// for nothing.
func TestNoVoters(t *testing.T) {
	r := preparing(t)
	b := ballot(1, 4)
	if out := r.Gives(0, r.From(9, 5, promise(b, 9)), "consensus.promise-no-voter(9)"); !out.Warn {
		t.Errorf("%+v", out)
	}
	if out := r.Gives(0, r.From(9, 5, consensus.Accepted{Ballot: b}), "consensus.accept-no-voter(9)"); !out.Warn {
		t.Errorf("%+v", out)
	}
	if out := r.Gives(0, r.From(3, 5, prepare(ballot(2, 1))), "consensus.others-ballot(3, 2.1)"); !out.Warn {
		t.Errorf("%+v", out)
	}
}

// "It leads with the process that was chosen": not with a former life of it, and not in a term
// that a former life may have led.
func TestChosenInAFormerLife(t *testing.T) {
	r := preparing(t)
	b, former := ballot(1, 4), proto.Peer{ID: 4, Incarnation: proto.Incarnation{99}}
	bound := consensus.Promise{Ballot: b, Last: ballot(1, 1), Accepted: former}
	r.Step(0, r.From(1, 5, bound))
	r.Step(0, r.From(2, 5, promise(b, 2)))
	r.Step(0, r.From(1, 5, consensus.Accepted{Ballot: b}))
	r.Gives(0, r.From(2, 5, consensus.Accepted{Ballot: b}),
		"nomination.call(consensus.former-chosen, 6)", "consensus.prepare(1.4)")

	r = steptest.New(t, 4, false, steptest.Among(consensus.New, 1, 2, 3, 4, 5))
	r.Start(5, 1, 2, 3, 4, 5)
	r.Gives(0, r.From(3, 5, chosen(4, false)), "nomination.call(consensus.chosen-spent, 6)", "consensus.prepare(1.4)")
}

// A former life that was chosen does not make this process lead.
func TestAFormerLifeIsTold(t *testing.T) {
	r := preparing(t)
	former := consensus.Chosen{Leader: proto.Peer{ID: 4, Incarnation: proto.Incarnation{99}}}
	r.Gives(0, r.From(3, 5, former), "consensus.former-told(3)")
	if r.Last.Leader.ID != 0 {
		t.Errorf("%+v", r.Last)
	}
}

// A proposer is told nothing while the leader may have fallen silent.
func TestProposalWhileTheLeaderIsUnheard(t *testing.T) {
	r := follower(t, 4)
	r.Gives(25*delta, r.From(3, 4, prepare(ballot(1, 3))), "consensus.unheard(3, 5)")
	r.Sends(r.Last)
}
