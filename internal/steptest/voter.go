package steptest

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Voter is the Rig of one of three voters. It makes and checks the messages that all algorithms
// with votes share. The other voters are in their first process.
type Voter struct {
	*Rig
	voters []proto.NodeID
}

// Promise is the length of a promise for every Voter.
const Promise = 3 * time.Second

// NewVoter makes a Rig around the Machine that create returns for node self. The test may change
// its Config.
func NewVoter[M algorithms.Machine](
	t testing.TB, self proto.NodeID, change func(*algorithms.Config), create func(algorithms.Config) M,
) Voter {
	var voters []proto.NodeID
	rig := New(t, self, false, func(c algorithms.Config) algorithms.Machine {
		c.Voters, c.Promise = []proto.NodeID{1, 2, 3}, Promise
		if change != nil {
			change(&c)
		}
		voters = c.Voters
		return withList(create(c), c.Voters)
	})
	return Voter{rig, voters}
}

// Start starts the Machine as Rig.Start does. If the voter has no saved vote, Start tells it that
// none of the voters ever voted.
func (r Voter) Start(saved proto.Term, alive ...proto.NodeID) {
	r.Rig.Start(saved, alive...)
	if r.Last.Recovery != nil {
		r.Step(0, r.NeverVoted())
		r.Step(0, Alive(alive...))
	}
}

// Begin starts the voter before it has seen another node. If the voter has no saved vote, Begin
// tells it that none of the voters ever voted.
func (r Voter) Begin() {
	r.Step(0, algorithms.Start{})
	if r.Last.Recovery != nil {
		r.Step(0, r.NeverVoted())
	}
}

// NeverVoted returns the event that a message of another voter is received. The message says that
// at one instant no voter, each in its first process, had ever voted.
func (r Voter) NeverVoted() algorithms.Event {
	from := r.voters[0]
	if from == r.Self {
		from = r.voters[1]
	}
	return r.From(from, 0, proto.Unvoted{Incarnation: Incarnation(from), Heard: r.Lives(r.voters...), Known: true})
}

// Lives lists the first processes of these nodes.
func (r Voter) Lives(ids ...proto.NodeID) (l proto.Roll) {
	for _, id := range ids {
		l = l.Add(proto.Peer{ID: id, Incarnation: Incarnation(id)})
	}
	return l
}

// WantSoon does what Want does, for a Deadline with jitter: it must be in [least, 2·least).
func (r Voter) WantSoon(least time.Duration, want algorithms.Output) {
	r.t.Helper()
	r.WantWithin(least, 2*least, want)
}

// WantWithin does what Want does, for a random Deadline: it must be in [least, most).
func (r Voter) WantWithin(least, most time.Duration, want algorithms.Output) {
	r.t.Helper()
	if in := r.Last.Deadline.Sub(r.Now); in >= least && in < most {
		want.Deadline = r.Last.Deadline
	}
	r.Want(want)
}

// Leads returns the belief that the node leads the term, with a lease that lasts for left.
func (r Voter) Leads(id proto.NodeID, term proto.Term, left time.Duration) algorithms.Leader {
	l := Leads(id, term)
	l.Until = r.In(left)
	return l
}

// All returns the message to each of the other two voters.
func (r Voter) All(term proto.Term, body proto.Body) []proto.Message {
	var msgs []proto.Message
	for id := proto.NodeID(1); id <= 3; id++ {
		if id != r.Self {
			msgs = append(msgs, r.Msg(id, term, body))
		}
	}
	return msgs
}

// Release returns the event that a RELEASE is received.
func (r Voter) Release(from proto.NodeID, term proto.Term) algorithms.Event {
	return r.From(from, term, proto.Release{Incarnation: Incarnation(from)})
}

// Yes returns the event that an answer to a PRE_VOTE is received: the voter would vote for this
// node.
func (r Voter) Yes(from proto.NodeID, nonce uint64) algorithms.Event {
	return r.From(from, 0, proto.PreVoteReply{Incarnation: Incarnation(r.Self), Nonce: nonce})
}

// Deny returns the message with which the Machine refuses its vote.
func (r Voter) Deny(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Denial, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.Vote{Incarnation: Incarnation(to), Nonce: nonce, Answer: no(bar, holder)})
}

// DenyAnew returns the message with which the Machine refuses to renew its promise.
func (r Voter) DenyAnew(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Denial, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.HeartbeatReply{Incarnation: Incarnation(to), Nonce: nonce, Answer: no(bar, holder)})
}

// Answer returns the message with which the Machine says no to a PRE_VOTE.
func (r Voter) Answer(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Denial, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.PreVoteReply{Incarnation: Incarnation(to), Nonce: nonce, Answer: no(bar, holder)})
}

func no(bar proto.Denial, holder proto.NodeID) proto.Answer {
	return proto.Answer{Denial: bar, To: holder}
}
