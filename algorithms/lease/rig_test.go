package lease_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	delta   = steptest.Delta
	promise = steptest.Promise
	// boot is how long a voter that made such a promise waits after a start.
	boot = 3040 * time.Millisecond
	// stand is how long the best voter hears of no leader before it stands.
	stand = boot + 8*delta
)

// lease is what a holder makes of a promise.
var leased = lease.Of(promise)

// rig is a lease machine of three voters around a nomination that the test decides.
type rig struct {
	steptest.Voter
	nominee  algorithms.Leader
	contends bool
}

// nomination is a nominating Machine that says what the rig says.
type nomination struct{ *rig }

func (n nomination) Step(time.Time, algorithms.Event) algorithms.Output {
	return algorithms.Output{Leader: n.nominee}
}

func (n nomination) Contends() bool { return n.contends }

func newRig(t *testing.T, self proto.NodeID, change func(*algorithms.Config)) *rig {
	r := &rig{}
	r.Voter = around(t, self, change, nomination{r})
	return r
}

// around is a lease machine around a nomination.
func around(
	t *testing.T, self proto.NodeID, change func(*algorithms.Config), nomination algorithms.Machine,
) steptest.Voter {
	return steptest.NewVoter(t, self, change, func(c algorithms.Config) algorithms.Machine {
		return lease.New(c, func(algorithms.Config) algorithms.Machine { return nomination })
	})
}

// unnominated is a Machine that is never nominated.
func unnominated(c algorithms.Config) algorithms.Machine {
	return lease.New(c, func(algorithms.Config) algorithms.Machine { return nomination{&rig{}} })
}

// voter1 is voter 1, started for the first time, with all three alive.
func voter1(t *testing.T, change func(*algorithms.Config)) *rig {
	r := newRig(t, 1, change)
	r.Start(0, 1, 2, 3)
	r.Want(algorithms.Output{Deadline: r.In(stand + 8*delta)}) // two rank above it
	return r
}

// granted is voter 1 that granted node 3 term 1.
func granted(t *testing.T, change func(*algorithms.Config)) *rig {
	r := voter1(t, change)
	r.Step(delta, r.claim(3, 1, 7))
	r.wantGranted(3, 1, 7)
	return r
}

// wantGranted is Want for a voter that grants a first life's REQUEST_VOTE.
func (r *rig) wantGranted(to proto.NodeID, term proto.Term, nonce uint64) {
	r.Want(algorithms.Output{
		Save:     voted(term, to),
		Send:     []proto.Message{r.grant(to, term, nonce)},
		Deadline: r.In(stand + 8*delta),
		Round:    term,
		Why:      steptest.Why(fmt.Sprintf("lease.vote(%d, %d)", to, term)),
	})
}

// nominate makes the nomination choose a node's first life.
func (r *rig) nominate(after time.Duration, id proto.NodeID, term proto.Term) algorithms.Output {
	r.nominee = steptest.Leads(id, term)
	return r.Step(after, algorithms.Timeout{})
}

// asking3 is voter 3, nominated in term 1, that has asked the others.
func asking3(t *testing.T) *rig {
	r := newRig(t, 3, nil)
	r.Start(0, 1, 2, 3)
	r.Want(algorithms.Output{Deadline: r.In(stand)})
	r.nominate(delta, 3, 1)
	r.WantSoon(4*delta, algorithms.Output{
		Send:  r.All(1, proto.PreVote{Incarnation: steptest.Incarnation(3), Nonce: 1}),
		Round: 1,
		Why:   steptest.Why("lease.ask(lease.nominated, 1)"),
	})
	return r
}

// claiming3 is voter 3 that has claimed term 1.
func claiming3(t *testing.T) *rig {
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

// holder3 is voter 3 that leads term 1, a delta after its REQUEST_VOTE.
func holder3(t *testing.T) *rig {
	r := claiming3(t)
	r.Step(delta, r.granted(1, 1, 2))
	r.Want(algorithms.Output{
		Send:     r.All(1, r.beat(2, leased-delta)),
		Deadline: r.In(promise/4 - delta),
		Leader:   r.Leads(3, 1, leased-delta),
		Round:    1,
		Why:      steptest.Why("lease.lead(1)"),
	})
	return r
}

// voted is the State after a first life's claim was granted.
func voted(term proto.Term, id proto.NodeID) *algorithms.State {
	return &algorithms.State{
		Vote:    algorithms.Vote{Term: term, ID: id, Incarnation: steptest.Incarnation(id)},
		Promise: promise,
	}
}

// What others send to the Machine, and what it sends them.

func (r *rig) claim(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.RequestVote{Incarnation: steptest.Incarnation(from), Nonce: nonce})
}

func (r *rig) renew(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.Heartbeat{Leader: steptest.Peer(from), Nonce: nonce, Remaining: leased})
}

func (r *rig) ask(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.PreVote{Incarnation: steptest.Incarnation(from), Nonce: nonce})
}

func (r *rig) replied(
	from proto.NodeID, term proto.Term, nonce uint64, no proto.Decline,
) algorithms.Event {
	return r.From(from, term, proto.Reply{
		Incarnation: steptest.Incarnation(r.Self), Nonce: nonce, No: no,
	})
}

func (r *rig) no(
	from proto.NodeID, term proto.Term, nonce uint64, denial proto.Denial, holder proto.NodeID,
) algorithms.Event {
	return r.From(from, term, proto.PreVoteReply{
		Incarnation: steptest.Incarnation(r.Self), Nonce: nonce, Answer: proto.Answer{Denial: denial, To: holder},
	})
}

func (r *rig) granted(from proto.NodeID, term proto.Term, nonce uint64) algorithms.Event {
	return r.From(from, term, proto.Vote{Incarnation: steptest.Incarnation(r.Self), Nonce: nonce})
}

// holds is the heartbeat of a first life that leads.
func (r *rig) holds(id proto.NodeID, term proto.Term, left time.Duration) algorithms.Event {
	return r.From(id, term, proto.Heartbeat{Leader: steptest.Peer(id), Nonce: 99, Remaining: left})
}

func (r *rig) grant(to proto.NodeID, term proto.Term, nonce uint64) proto.Message {
	return r.Msg(to, term, proto.Vote{Incarnation: steptest.Incarnation(to), Nonce: nonce})
}

// again is the promise anew.
func (r *rig) again(to proto.NodeID, term proto.Term, nonce uint64) proto.Message {
	return r.Msg(to, term, proto.HeartbeatReply{Incarnation: steptest.Incarnation(to), Nonce: nonce})
}

// beat is the Machine's heartbeat, of a round of questions.
func (r *rig) beat(nonce uint64, left time.Duration) proto.Body {
	return proto.Heartbeat{
		Leader: steptest.Peer(r.Self), Nonce: nonce, Remaining: left.Truncate(time.Microsecond),
	}
}
