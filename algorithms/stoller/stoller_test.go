package stoller_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/stoller"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// calls is node self of four, which calls an election of the term it returns.
func calls(t *testing.T, self proto.NodeID) (*steptest.Rig, proto.Term) {
	r := steptest.New(t, self, true, stoller.New)
	r.Start(0, 1, 2, 3, 4)
	out := r.Step(0, algorithms.Campaign{Reason: "test"})
	return r, out.Leader.Term
}

func halt(id proto.NodeID) stoller.Halt       { return stoller.Halt{Candidate: steptest.Peer(id)} }
func notNorm(id proto.NodeID) stoller.NotNorm { return stoller.NotNorm{Self: steptest.Peer(id)} }
func reject(id proto.NodeID) stoller.Reject   { return stoller.Reject{Above: steptest.Peer(id)} }
func leads(id proto.NodeID) stoller.Leads     { return stoller.Leads{Leader: steptest.Peer(id)} }

// "Nobody leads before every process below it has stopped, or is dead."
func TestLeadsWhenAllHaveStopped(t *testing.T) {
	r, term := calls(t, 4)
	r.Sends(r.Last, r.Msg(1, term, halt(4)), r.Msg(2, term, halt(4)), r.Msg(3, term, halt(4)))
	r.Step(0, r.From(1, term, stoller.Halted{}))
	r.Step(0, r.From(1, term, stoller.Halted{})) // again
	r.Step(0, r.From(9, term, stoller.Halted{})) // was not asked
	r.Sends(r.Step(0, r.From(3, term, stoller.Halted{})))
	if r.Last.Leader.ID != 0 {
		t.Fatal("leads without the answer of 2")
	}
	r.Step(0, r.From(2, term, stoller.Halted{}))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(1, term, leads(4)), r.Msg(2, term, leads(4)), r.Msg(3, term, leads(4))},
		Deadline: r.In(nomination.AnnounceEvery(delta, stoller.Patience(delta, 4))),
		Leader:   steptest.Leads(4, term),
		Why:      steptest.Why("nomination.lead(stoller.stopped, 1)"),
	})
}

// "Only the failure detector ends the wait for an answer, no time that passes does."
func TestNoTimeoutReplacesAnAnswer(t *testing.T) {
	r, term := calls(t, 4)
	r.Step(0, r.From(1, term, stoller.Halted{}))
	r.Step(0, r.From(3, term, stoller.Halted{}))
	for range 50 {
		r.Sends(r.Fire(), r.Msg(2, term, halt(4)))
	}
	r.Sends(r.Step(0, r.From(1, term, notNorm(1))), r.Msg(1, term, halt(4))) // it waits on
	if r.Last.Leader != steptest.Leads(0, term) {
		t.Fatalf("leads, or calls another term: %+v", r.Last.Leader)
	}
	if out := r.Step(0, steptest.Alive(1, 3, 4)); out.Leader != steptest.Leads(4, term) {
		t.Errorf("2 is dead, and 4 does not lead: %v", steptest.Texts(out.Why))
	}
}

// "Whoever sees a higher process gives it the chance to lead."
func TestAsksTheHighest(t *testing.T) {
	r, term := calls(t, 2)
	r.Sends(r.Last, r.Msg(4, term, notNorm(2)))
	r.Sends(r.Fire(), r.Msg(3, term, notNorm(2)), r.Msg(4, term, notNorm(2)))
	if out := r.Fire(); out.Leader.Term != term+1 {
		t.Errorf("no new term: %+v", out)
	}
	term++
	r.Sends(r.Step(0, steptest.Alive(1, 2, 3)), r.Msg(3, term, notNorm(2)))
	r.Sends(r.Step(0, r.From(3, term, stoller.Halted{})), // it stands aside
		r.Msg(1, term, halt(2)), r.Msg(3, term, halt(2)))
}

// "A process that is halted stops what it does, and waits for whoever halted it."
func TestStopsAndWaits(t *testing.T) {
	r, term := calls(t, 3)
	r.Step(0, r.From(4, term, halt(4)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(4, term, stoller.Halted{})},
		Deadline: r.In(stoller.LeaderTimeout(delta)),
		Leader:   steptest.Leads(0, term),
		Why:      steptest.Why("stoller.stop(4)"),
	})
	r.Sends(r.Step(0, r.From(4, term, halt(4))), r.Msg(4, term, stoller.Halted{})) // its ACK was lost
	r.Sends(r.Step(0, r.From(2, term, halt(2))), r.Msg(2, term, reject(4)))
	r.Sends(r.Fire(), r.Msg(4, term, notNorm(3)))
	if out := r.Fire(); out.Leader.Term != term+1 {
		t.Errorf("waits for ever: %+v", out)
	}
}

// Whoever led before has stopped before the next one leads: its answer says so.
func TestLeaderStops(t *testing.T) {
	r, term := calls(t, 4)
	for id := range proto.NodeID(3) {
		r.Step(0, r.From(id+1, term, stoller.Halted{}))
	}
	strong := steptest.Peer(3)
	strong.Attr = 1
	out := r.Step(0, r.From(3, term+1, stoller.Halt{Candidate: strong}))
	r.Sends(out, r.Msg(3, term+1, stoller.Halted{}))
	if out.Leader != steptest.Leads(0, term+1) {
		t.Errorf("leads on: %+v", out.Leader)
	}
}

// "Whoever waits for a process that dies begins anew."
func TestCandidateDies(t *testing.T) {
	r, term := calls(t, 3)
	r.Step(0, r.From(4, term, halt(4)))
	r.Sends(r.Step(0, steptest.Alive(1, 2, 3)), r.Msg(1, term+1, halt(3)), r.Msg(2, term+1, halt(3)))
}

// "One that follows or waits for a higher process rejects", and here the candidate
// waits for that one too: a term has one leader.
func TestRejected(t *testing.T) {
	r, term := calls(t, 3)
	term++
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Step(0, r.From(2, term, notNorm(2)))
	r.Sends(r.Last, r.Msg(1, term, halt(3)), r.Msg(2, term, halt(3)))
	out := r.Step(0, r.From(1, term, reject(4)))
	r.Sends(out)
	r.Step(0, r.From(1, term, stoller.Halted{}))
	if out := r.Step(0, r.From(2, term, stoller.Halted{})); out.Leader.ID != 0 {
		t.Errorf("leads though 1 waits for 4: %v", steptest.Texts(out.Why))
	}
	r.Sends(r.Step(0, r.From(4, term, halt(4))), r.Msg(4, term, stoller.Halted{}))
}

// One that rejects for a candidate that is dead will see that too.
func TestRejectedForTheDead(t *testing.T) {
	r, term := calls(t, 3)
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Sends(r.Step(0, r.From(1, term, reject(4))))
	r.Step(0, r.From(2, term, stoller.Halted{}))
	r.Sends(r.Fire(), r.Msg(1, term, halt(3)))
	if out := r.Step(0, r.From(1, term, stoller.Halted{})); out.Leader != steptest.Leads(3, term) {
		t.Errorf("does not lead: %v", steptest.Texts(out.Why))
	}
}

// A lower one that does not see this node is rejected, and this node stands.
func TestLowerOneIsRejected(t *testing.T) {
	r, term := calls(t, 4)
	r.Sends(r.Step(0, r.From(3, term+1, halt(3))), r.Msg(3, term+1, reject(4)),
		r.Msg(1, term+1, halt(4)), r.Msg(2, term+1, halt(4)), r.Msg(3, term+1, halt(4)))
}

// One that stands aside stops too, and stands for nobody.
func TestStandsAside(t *testing.T) {
	r, term := calls(t, 4)
	r.Step(0, algorithms.Resign{})
	r.Sends(r.Step(0, r.From(3, term, notNorm(3))), r.Msg(3, term, stoller.Halted{}))
	r.Sends(r.Step(0, r.From(3, term, halt(3))), r.Msg(3, term, stoller.Halted{}))
}

// A node that joins meanwhile may lead: it is halted too, or given way to.
func TestJoinedMeanwhile(t *testing.T) {
	r, term := calls(t, 4)
	weak := steptest.Peers(1, 2, 3, 4, 5)
	weak[4].Attr = -1
	r.Sends(r.Step(0, algorithms.PeersChanged{Alive: weak}), r.Msg(5, term, halt(4)))
	r, term = calls(t, 4)
	r.Sends(r.Step(0, steptest.Alive(1, 2, 3, 4, 5)), r.Msg(5, term, notNorm(4)))
}

// One that rejects for a node below this one is asked again.
func TestRejectedForOneBelow(t *testing.T) {
	r, term := calls(t, 4)
	r.Gives(0, r.From(2, term, reject(3)), "stoller.rejects-below(2, 3)")
	if r.Last.Leader.ID != 0 || r.Last.Deadline.IsZero() {
		t.Errorf("%+v", r.Last)
	}
}

// One that rejects for a dead node has not seen it die yet: it is asked again.
func TestRejectedForADeadNode(t *testing.T) {
	r := steptest.New(t, 4, true, stoller.New)
	r.Start(0, 1, 2, 3, 4, 5)
	out := r.Step(0, algorithms.Campaign{Reason: "test"})
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Gives(0, r.From(2, out.Leader.Term, reject(5)), "stoller.rejects-dead(2, 5)")
}

// A node does not stand for one that ranks above it: that one would reject it.
func TestAskedByOneAbove(t *testing.T) {
	r, term := calls(t, 2)
	r.Sends(r.Gives(0, r.From(3, term, notNorm(3)), "stoller.asked-above(3)"))
}
