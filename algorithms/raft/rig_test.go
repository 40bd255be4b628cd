package raft_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	leases "github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/raft"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	delta   = steptest.Delta
	promise = steptest.Promise
	// boot is how long a voter that made such a promise waits after a start.
	boot = 3040 * time.Millisecond
	// start is how long the best of three listens before it stands, turn how much later
	// each other does.
	start = 10 * delta
	turn  = 4 * delta
	beat  = promise / 4
)

// lease is what a leader makes of a promise.
var lease = leases.Of(promise)

// rig is one of three voters.
type rig struct{ steptest.Voter }

func newRig(t *testing.T, self proto.NodeID, change func(*algorithms.Config)) *rig {
	return &rig{steptest.NewVoter(t, self, change, raft.New)}
}

// follower1 is voter 1, started for the first time, with all three alive.
func follower1(t *testing.T, change func(*algorithms.Config)) *rig {
	r := newRig(t, 1, change)
	r.Start(0, 1, 2, 3)
	r.Want(algorithms.Output{Deadline: r.In(start + 2*turn)}) // two rank above it
	return r
}

// voted1 is voter 1 that voted for node 3 in term 1.
func voted1(t *testing.T, change func(*algorithms.Config)) *rig {
	r := follower1(t, change)
	r.Step(delta, r.request(3, 1, 7))
	r.wantPatient(algorithms.Output{
		Save:  voted(1, 3),
		Send:  []proto.Message{r.vote(3, 1, 7)},
		Round: 1,
		Why:   steptest.Why("lease.vote(3, 1)"),
	})
	return r
}

// following1 is voter 1 that follows node 3, for which it voted in term 1.
func following1(t *testing.T, change func(*algorithms.Config)) *rig {
	r := voted1(t, change)
	r.Step(delta, r.heartbeat(3, 1, 7, lease-delta))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.ack(3, 1, 7)},
		Deadline: r.In(lease - delta),
		Leader:   r.Leads(3, 1, lease-delta),
		Round:    1,
		Why:      steptest.Why("lease.follow(3, 1)"),
	})
	return r
}

// asking3 is voter 3 whose time to stand has come.
func asking3(t *testing.T) *rig {
	r := newRig(t, 3, nil)
	r.Start(0, 1, 2, 3)
	r.Want(algorithms.Output{Deadline: r.In(start)})
	r.Fire()
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(1, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 1}),
		Round: 1,
		Why:   steptest.Why("lease.ask(raft.start, 1)"),
	})
	return r
}

// candidate3 is voter 3 that requests votes in term 1.
func candidate3(t *testing.T) *rig {
	r := asking3(t)
	r.Step(delta, r.Yes(1, 1))
	r.Want(algorithms.Output{
		Save:     voted(1, 3),
		Send:     r.All(1, proto.RequestVote{Incarnation: steptest.Incarnation(3), Nonce: 2}),
		Deadline: r.In(8 * delta),
		Round:    1,
		Why:      steptest.Why("lease.candidate(1)"),
	})
	return r
}

// leader3 is voter 3 that leads term 1, a delta after its REQUEST_VOTE.
func leader3(t *testing.T) *rig {
	r := candidate3(t)
	r.Step(delta, r.granted(1, 1, 2))
	r.Want(algorithms.Output{
		Send:     r.All(1, r.says(2, lease-delta)),
		Deadline: r.In(beat - delta),
		Leader:   r.Leads(3, 1, lease-delta),
		Round:    1,
		Why:      steptest.Why("lease.lead(1)"),
	})
	return r
}

// wantPatient is Want, but for a Deadline at a random election timeout.
func (r *rig) wantPatient(want algorithms.Output) {
	r.WantWithin(boot, boot+promise/2, want)
}

// voted is the State after a first life got the vote.
func voted(term proto.Term, id proto.NodeID) *algorithms.State {
	return &algorithms.State{
		Term: term, Reserved: term,
		Vote:    algorithms.Vote{Term: term, ID: id, Incarnation: steptest.Incarnation(id)},
		Promise: promise,
	}
}

// What others send to the Machine, and what it sends them.

func (r *rig) preVote(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.PreVote{Incarnation: steptest.Incarnation(from), Nonce: nonce})
}

func (r *rig) request(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.RequestVote{Incarnation: steptest.Incarnation(from), Nonce: nonce})
}

func (r *rig) heartbeat(from proto.NodeID, term proto.Term, nonce uint64, left time.Duration) algorithms.Event {
	return r.From(from, term, proto.Heartbeat{
		Leader: steptest.Peer(from), Nonce: nonce, Remaining: left.Truncate(time.Microsecond),
	})
}

func (r *rig) granted(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.Vote{Incarnation: steptest.Incarnation(r.Self), Nonce: nonce})
}

func (r *rig) acked(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.HeartbeatReply{Incarnation: steptest.Incarnation(r.Self), Nonce: nonce})
}

func (r *rig) denied(from proto.NodeID, term proto.Term, nonce uint64, denial proto.Denial) algorithms.Event {
	return r.From(from, term, proto.Vote{
		Incarnation: steptest.Incarnation(r.Self), Nonce: nonce, Answer: proto.Answer{Denial: denial},
	})
}

func (r *rig) vote(to proto.NodeID, term proto.Term, nonce uint64) proto.Message {
	return r.Msg(to, term, proto.Vote{Incarnation: steptest.Incarnation(to), Nonce: nonce})
}

func (r *rig) ack(to proto.NodeID, term proto.Term, nonce uint64) proto.Message {
	return r.Msg(to, term, proto.HeartbeatReply{Incarnation: steptest.Incarnation(to), Nonce: nonce})
}

// says is the Machine's own heartbeat.
func (r *rig) says(nonce uint64, left time.Duration) proto.Body {
	return proto.Heartbeat{
		Leader: steptest.Peer(r.Self), Nonce: nonce, Remaining: left.Truncate(time.Microsecond),
	}
}
