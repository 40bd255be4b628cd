package chubby_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/chubby"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	delta   = steptest.Delta
	promise = 3 * time.Second
)

// server is one of three, which all live.
func server(t *testing.T, self proto.NodeID, preempt bool) *steptest.Rig {
	r := steptest.NewVoter(t, self, func(c *algorithms.Config) { c.Preempt = preempt }, chubby.New)
	r.Start(0, 1, 2, 3)
	return r.Rig
}

// follows is such a server that was told that node 3 is the master of term 1.
func follows(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := server(t, self, false)
	r.Step(delta, r.From(3, 1, proto.Heartbeat{Leader: steptest.Peer(3), Remaining: 2 * time.Second}))
	if r.Last.Leader.ID != 3 {
		t.Fatal(steptest.Texts(r.Last.Why))
	}
	return r
}

func asks(out algorithms.Output) bool {
	for _, m := range out.Send {
		if m.Body.Kind() == proto.KindPreVote {
			return true
		}
	}
	return false
}

// "Potential leader tries to get votes": the highest at once, the others a Stagger
// later for each that is above them.
func TestStandsInTurn(t *testing.T) {
	for self, wait := range map[proto.NodeID]time.Duration{
		3: chubby.StartDelay(delta),
		2: chubby.StartDelay(delta) + chubby.Stagger(delta),
		1: chubby.StartDelay(delta) + 2*chubby.Stagger(delta),
	} {
		r := server(t, self, false)
		if !r.Last.Deadline.Equal(r.In(wait)) {
			t.Errorf("%d stands after %v, want %v", self, r.Last.Deadline.Sub(r.Now), wait)
		}
		if out := r.Step(wait-1, algorithms.Timeout{}); asks(out) {
			t.Errorf("%d stands too early", self)
		}
		if out := r.Step(1, algorithms.Timeout{}); !asks(out) || steptest.Texts(out.Why)[0] !=
			"chubby.turn" {
			t.Errorf("%d does not stand: %v", self, steptest.Texts(out.Why))
		}
	}
}

// Nobody waits for the master that is gone: the next in line stands at once.
func TestNextInLineStandsAtOnce(t *testing.T) {
	gone := algorithms.PeerProvenDead{ID: 3, Incarnation: steptest.Incarnation(3)}
	if out := follows(t, 2).Step(delta, gone); !asks(out) {
		t.Errorf("2 waits: %v", steptest.Texts(out.Why))
	}
	r := follows(t, 1)
	if out := r.Step(delta, gone); asks(out) || !out.Deadline.Equal(r.In(chubby.Stagger(delta))) {
		t.Errorf("1 does not leave it to 2 for a while: %v", steptest.Texts(out.Why))
	}
}

// "After election, master has an election 'term' where no other elections will be run."
func TestNoOtherElection(t *testing.T) {
	r := follows(t, 2)
	if out := r.Step(delta, algorithms.Campaign{Reason: "test"}); asks(out) {
		t.Errorf("stands: %v", steptest.Texts(out.Why))
	}
	if out := r.Step(delta, steptest.Alive(1, 2)); asks(out) {
		t.Errorf("an opinion that the master is dead ends no lease: %v", steptest.Texts(out.Why))
	}
}

// "Also guarantees a new election will be run at end of lease."
func TestElectionAtTheEndOfTheLease(t *testing.T) {
	r := follows(t, 2)
	if out := r.Step(2*time.Second, algorithms.Timeout{}); out.Leader.ID != 0 || !asks(out) {
		t.Errorf("%+v", out)
	}
}

// An operator's call while there is no master is not staggered.
func TestCalled(t *testing.T) {
	r := server(t, 1, false)
	if out := r.Step(delta, algorithms.Campaign{Reason: "test"}); !asks(out) {
		t.Errorf("does not stand: %v", steptest.Texts(out.Why))
	}
}

// Who resigned, or may not lead, leaves it to the others.
func TestStandsAside(t *testing.T) {
	for _, ev := range []algorithms.Event{algorithms.Resign{}, algorithms.Eligible{Why: "test"}} {
		r := server(t, 3, false)
		r.Step(0, ev)
		if out := r.Step(time.Minute, algorithms.Timeout{}); asks(out) {
			t.Errorf("stands after %T", ev)
		}
	}
}

// A resigning master names its successor, if that can be one.
func TestResignTo(t *testing.T) {
	for to, told := range map[proto.NodeID]bool{1: true, 9: false} {
		r := server(t, 3, false)
		r.Fire()
		ask := r.Last.Send[0].Body.(proto.PreVote)
		r.Step(0, r.From(1, 0, proto.PreVoteReply{Incarnation: ask.Incarnation, Nonce: ask.Nonce}))
		claim := r.Last.Send[0].Body.(proto.RequestVote)
		r.Step(0, r.From(1, 1, proto.Vote{Incarnation: claim.Incarnation, Nonce: claim.Nonce}))
		if r.Last.Leader.ID != 3 {
			t.Fatal(steptest.Texts(r.Last.Why))
		}
		if out := r.Step(0, algorithms.Resign{To: to}); out.Leader.ID != 0 {
			t.Fatal("still leads")
		}
		out := r.Step(0, algorithms.WorkStopped{Term: 1})
		got := false
		for _, m := range out.Send {
			if _, ok := m.Body.(proto.TakeOver); ok && m.To == to {
				got = true
			}
		}
		if got != told {
			t.Errorf("to %d: %v", to, out.Send)
		}
	}
}
