package zookeeper_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/zookeeper"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// follower is one of five that follows node 5 in term 4.
func follower(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, steptest.Among(zookeeper.New, 1, 2, 3, 4, 5))
	r.Start(3, 1, 2, 3, 4, 5)
	r.Step(delta, r.From(5, 4, zookeeper.Commit{Leader: steptest.Peer(5)}))
	r.Step(zookeeper.Patience(delta, 5), algorithms.Timeout{})
	if r.Last.Leader != steptest.Leads(5, 4) {
		t.Fatal(steptest.Texts(r.Last.Why))
	}
	return r
}

func newLeader(id proto.NodeID) zookeeper.NewLeader {
	return zookeeper.NewLeader{Candidate: steptest.Peer(id)}
}

func ackFor(id proto.NodeID) zookeeper.Ack {
	return zookeeper.Ack{Candidate: steptest.Incarnation(id)}
}

// "This process asks for ACK": until a quorum answered.
func TestContends(t *testing.T) {
	r := follower(t, 4)
	m := r.Machine.(*nomination.Core)
	if m.Contends() {
		t.Error("it follows")
	}
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Step(0, r.From(1, 5, ackFor(4)))
	if !m.Contends() {
		t.Error("it stands, and has no quorum yet")
	}
	r.Step(0, r.From(2, 5, ackFor(4)))
	if m.Contends() {
		t.Error("it leads")
	}
}

// "On detection of failure in successor: If successor was the Leader, you become the
// leader", once a quorum agrees.
func TestNextInLineStands(t *testing.T) {
	r := follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(1, 5, newLeader(4)), r.Msg(2, 5, newLeader(4)), r.Msg(3, 5, newLeader(4)),
		},
		Deadline: r.In(zookeeper.AckTimeout(delta)),
		Leader:   steptest.Leads(0, 5),
		Why: steptest.Why(
			"nomination.call(nomination.gone(5), 5)", "zookeeper.stand(5)",
		),
	})
}

// "Leader who receives quorum of ACKs broadcasts COMMIT": of five three, its own
// included, each counted once, and voters only.
func TestQuorum(t *testing.T) {
	r := follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Sends(r.Step(0, r.From(1, 5, ackFor(4))))
	r.Sends(r.Step(0, r.From(1, 5, ackFor(4))))
	r.Sends(r.Step(0, r.From(2, 5, ackFor(3))))
	if out := r.Step(0, r.From(9, 5, ackFor(4))); !out.Warn || out.Leader.ID != 0 {
		t.Errorf("a stranger's ACK: %v", steptest.Texts(out.Why))
	}
	commit := zookeeper.Commit{Leader: steptest.Peer(4)}
	out := r.Step(0, r.From(3, 5, ackFor(4)))
	r.Sends(out, r.Msg(1, 5, commit), r.Msg(2, 5, commit), r.Msg(3, 5, commit))
	if out.Leader != steptest.Leads(4, 5) {
		t.Errorf("%+v", out.Leader)
	}
	r.Sends(r.Step(0, r.From(2, 5, ackFor(4))))
}

// "Potentially, no Leader gets a Quorum!" Then another term begins.
func TestNoQuorum(t *testing.T) {
	r := follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Step(0, r.From(1, 5, ackFor(4)))
	out := r.Fire()
	if out.Leader != steptest.Leads(0, 6) ||
		steptest.Texts(out.Why)[0] != "nomination.call(zookeeper.no-quorum, 6)" {
		t.Errorf("%+v", out)
	}
	// An ACK of the term before is none of this one.
	r.Step(0, r.From(2, 5, ackFor(4)))
	if out := r.Step(0, r.From(3, 6, ackFor(4))); out.Leader.ID != 0 {
		t.Errorf("two of five: %v", steptest.Texts(out.Why))
	}
}

// "Each process monitors next-highest ID process. On detection of failure: else, wait
// until timeout; re-check successor." Only the next in line calls an election at once.
func TestWatchesTheNextAbove(t *testing.T) {
	r := follower(t, 2)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Want(algorithms.Output{
		Deadline: r.In(zookeeper.WatchTimeout(delta)),
		Leader:   steptest.Leads(0, 4),
		Why:      steptest.Why("zookeeper.leave(nomination.gone(5))", "zookeeper.watch(3)"),
	})
	r.Gives(0, steptest.Alive(1, 2, 4), "zookeeper.watch-next(4)")
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	r.Sends(r.Fire(), r.Msg(3, 5, zookeeper.Watch{Self: steptest.Peer(2)}))
	r.Sends(r.Step(0, r.From(3, 5, zookeeper.Exists{})))
	r.Sends(r.Step(0, steptest.Alive(1, 2, 4)), r.Msg(4, 5, zookeeper.Watch{Self: steptest.Peer(2)}))
	// No EXISTS in time: as if it had failed. Now nobody is above.
	r.Sends(r.Fire(), r.Msg(1, 5, newLeader(2)), r.Msg(4, 5, newLeader(2)))
}

// The next in line dies, too: who is next now calls the election at once. Not so another, nor
// for a death below it.
func TestNextInLineDies(t *testing.T) {
	r := follower(t, 3)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	due := r.Last.Deadline
	r.Step(delta, steptest.Alive(2, 3, 4))
	if r.Sends(r.Last); !r.Last.Deadline.Equal(due) {
		t.Errorf("waits until %v, want %v", r.Last.Deadline, due)
	}
	r.Gives(delta, steptest.Alive(2, 3), "nomination.call(nomination.gone(5), 5)", "zookeeper.stand(5)")
	r.Sends(r.Last, r.Msg(2, 5, newLeader(3)))
}

// A leader that was not dead is followed again, in the term that it leads.
func TestFalseAlarm(t *testing.T) {
	r := follower(t, 2)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	r.Step(delta, steptest.Alive(1, 2, 3, 4, 5))
	r.Step(0, r.From(5, 4, zookeeper.Commit{Leader: steptest.Peer(5)}))
	if r.Last.Leader != steptest.Leads(5, 4) {
		t.Errorf("%+v", r.Last.Leader)
	}
	r.Step(zookeeper.WatchTimeout(delta), algorithms.Timeout{})
	if r.Sends(r.Last); r.Last.Leader != steptest.Leads(5, 4) {
		t.Errorf("%+v", r.Last.Leader)
	}
}

// Asked whether it is there, a process says so and passes the question up.
func TestWatchClimbs(t *testing.T) {
	r := follower(t, 2)
	out := r.Step(delta, r.From(1, 5, zookeeper.Watch{Self: steptest.Peer(1)}))
	r.Sends(out, r.Msg(3, 5, zookeeper.Watch{Self: steptest.Peer(2)}), r.Msg(1, 5, zookeeper.Exists{}))
	r = follower(t, 2)
	r.Step(0, r.From(5, 4, zookeeper.Commit{Leader: steptest.Peer(5)}))
	r.Sends(r.Step(0, r.From(1, 4, zookeeper.Watch{Self: steptest.Peer(1)})),
		r.Msg(1, 4, zookeeper.Commit{Leader: steptest.Peer(5)}))
}

// "Each process ACKs to at most one NEW_LEADER."
func TestOneAck(t *testing.T) {
	r := follower(t, 1)
	r.Sends(r.Step(delta, r.From(3, 5, newLeader(3))), r.Msg(3, 5, ackFor(3)))
	r.Sends(r.Step(0, r.From(4, 5, newLeader(4))))
	r.Sends(r.Step(0, r.From(3, 5, newLeader(3))), r.Msg(3, 5, ackFor(3)))
	// Not even when it stood aside meanwhile.
	r.Step(0, algorithms.Resign{})
	r.Sends(r.Step(0, r.From(4, 5, newLeader(4))))
	r.Sends(r.Step(0, r.From(4, 6, newLeader(4))), r.Msg(4, 6, ackFor(4)))
}

// It sends ACK in no term that a former life may have taken part in.
func TestNoAckForAFormerLife(t *testing.T) {
	r := steptest.New(t, 1, false, steptest.Among(zookeeper.New, 1, 2, 3))
	r.Step(0, algorithms.Start{Saved: algorithms.State{Term: 4, Reserved: 5}})
	r.Step(0, steptest.Alive(1, 2, 3))
	r.Sends(r.Step(0, r.From(3, 5, newLeader(3))))
	out := r.Step(0, r.From(3, 6, newLeader(3)))
	r.Sends(out, r.Msg(3, 6, ackFor(3)))
	if out.Save == nil || out.Save.Reserved < 6 {
		t.Errorf("the term of the ACK is not durable first: %+v", out.Save)
	}
}

// The highest that it has seen is itself: it stands rather than send ACK to a lower one.
func TestHighestStands(t *testing.T) {
	r := follower(t, 4)
	out := r.Step(delta, r.From(3, 5, newLeader(3)))
	r.Sends(out, r.Msg(3, 5, ackFor(3))) // 5 is above it, as far as it knows
	r = follower(t, 4)
	r.Step(0, r.From(3, 5, zookeeper.Watch{Self: steptest.Peer(3)}))
	r.Sends(r.Step(0, steptest.Alive(1, 2, 3, 4)),
		r.Msg(1, 5, newLeader(4)), r.Msg(2, 5, newLeader(4)), r.Msg(3, 5, newLeader(4)))
	r.Sends(r.Step(0, r.From(3, 5, newLeader(3))))
}

// The would-be leader dies before COMMIT: another term.
func TestCandidateDies(t *testing.T) {
	r := follower(t, 3)
	r.Step(delta, r.From(4, 5, newLeader(4)))
	out := r.Step(delta, steptest.Alive(1, 2, 3))
	if out.Leader.Term != 6 || steptest.Texts(out.Why)[0] != "nomination.call(nomination.best-dead(4), 6)" {
		t.Errorf("%+v", out)
	}
}

// Asked to lead, it stands: nobody leads without a quorum.
func TestAskedToLead(t *testing.T) {
	r := follower(t, 1)
	out := r.Step(delta, r.From(5, 4, nomination.TimeoutNow{}))
	if out.Leader != steptest.Leads(0, 5) || len(out.Send) != 4 {
		t.Errorf("%+v", out)
	}
	r = follower(t, 1)
	chosen := steptest.Peer(1)
	chosen.Attr = proto.ChosenAttr
	out = r.Step(delta, r.From(5, 4, proto.TakeOver{Incarnation: steptest.Incarnation(5), To: steptest.Incarnation(1)}))
	if len(out.Send) != 4 || out.Send[0].Body != (zookeeper.NewLeader{Candidate: chosen}) {
		t.Errorf("%+v", out)
	}
}

// A body of another algorithm is refused.
func TestStrangeMessage(t *testing.T) {
	r := follower(t, 1)
	if out := r.Step(0, r.From(5, 4, steptest.Foreign{})); !out.Warn {
		t.Errorf("%+v", out)
	}
}

// One voter is a quorum, of two both are.
func TestFewVoters(t *testing.T) {
	r := steptest.New(t, 1, false, steptest.Among(zookeeper.New, 1, 2))
	r.Start(0, 1)
	for range 10 {
		r.Fire()
	}
	if r.Last.Leader.ID != 0 {
		t.Error("one of two voters leads")
	}
}

// "A majority of voters": the ACK of another counts for nothing.
func TestAckOfNoVoter(t *testing.T) {
	r := follower(t, 4)
	r.Step(delta, steptest.Alive(1, 2, 3, 4))
	if out := r.Gives(0, r.From(9, 5, ackFor(4)), "zookeeper.no-voter(9)"); !out.Warn || out.Leader.ID != 0 {
		t.Errorf("%+v", out)
	}
}

// One that stands gets no ACK while the leader may have fallen silent.
func TestNewLeaderWhileTheLeaderIsUnheard(t *testing.T) {
	r := follower(t, 4)
	r.Gives(25*delta, r.From(3, 4, newLeader(3)), "zookeeper.unheard(3, 5)")
	r.Sends(r.Last)
}
