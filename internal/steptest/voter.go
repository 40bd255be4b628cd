package steptest

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Voter is the Rig of one of three voters, whose Machine takes and sends what all do that
// lead by votes. It speaks of the others' first lives.
type Voter struct {
	*Rig
	voters []proto.NodeID
}

// Promise is what every Voter promises, and leads by.
const Promise = 3 * time.Second

// NewVoter makes the Rig around the Machine that create returns for node self, with what
// the test changes in its Config, if anything.
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

// Start brings the Machine to a quiet start, as that of a Rig. A voter of which nothing is
// saved is told that none of the voters ever voted.
func (r Voter) Start(saved proto.Term, alive ...proto.NodeID) {
	r.Rig.Start(saved, alive...)
	if r.Last.Recovery != nil {
		r.Step(0, r.NeverVoted())
		r.Step(0, Alive(alive...))
	}
}

// Begin is the first start of all voters, none of which has seen another.
func (r Voter) Begin() {
	r.Step(0, algorithms.Start{})
	if r.Last.Recovery != nil {
		r.Step(0, r.NeverVoted())
	}
}

// NeverVoted is the receipt of another voter's word that all of them, each in its first
// life, had never voted at one instant.
func (r Voter) NeverVoted() algorithms.Event {
	from := r.voters[0]
	if from == r.Self {
		from = r.voters[1]
	}
	return r.From(from, 0, proto.Unvoted{Session: Session(from), Heard: r.Lives(r.voters...), Known: true})
}

// Lives lists the first lives of nodes.
func (r Voter) Lives(ids ...proto.NodeID) (l proto.Roll) {
	for _, id := range ids {
		l = l.Add(proto.Peer{ID: id, Session: Session(id)})
	}
	return l
}

// WantSoon is Want, but for a Deadline that is jittered over [least, 2·least).
func (r Voter) WantSoon(least time.Duration, want algorithms.Output) {
	r.t.Helper()
	r.WantWithin(least, 2*least, want)
}

// WantWithin is Want, but for a Deadline that is drawn from [least, most).
func (r Voter) WantWithin(least, most time.Duration, want algorithms.Output) {
	r.t.Helper()
	if in := r.Last.Deadline.Sub(r.Now); in >= least && in < most {
		want.Deadline = r.Last.Deadline
	}
	r.Want(want)
}

// Leads is the belief in a node, for so long.
func (r Voter) Leads(id proto.NodeID, term proto.Term, left time.Duration) algorithms.Leader {
	l := Leads(id, term)
	l.Until = r.In(left)
	return l
}

// All is a message to each other of the three.
func (r Voter) All(term proto.Term, body proto.Body) []proto.Message {
	var msgs []proto.Message
	for id := proto.NodeID(1); id <= 3; id++ {
		if id != r.Self {
			msgs = append(msgs, r.Msg(id, term, body))
		}
	}
	return msgs
}

// Release is the receipt of one.
func (r Voter) Release(from proto.NodeID, term proto.Term) algorithms.Event {
	return r.From(from, term, proto.Release{Session: Session(from)})
}

// Yes is the receipt of an answer: another would grant.
func (r Voter) Yes(from proto.NodeID, nonce uint64) algorithms.Event {
	return r.From(from, 0, proto.PreVoteReply{Session: Session(r.Self), Nonce: nonce})
}

// Deny is what the Machine tells whom it refuses its vote.
func (r Voter) Deny(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Bar, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.Vote{Session: Session(to), Nonce: nonce, Answer: no(bar, holder)})
}

// DenyAnew is what the Machine tells whom it refuses its promise anew.
func (r Voter) DenyAnew(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Bar, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.HeartbeatReply{Session: Session(to), Nonce: nonce, Answer: no(bar, holder)})
}

// Answer is what the Machine tells who asks it before it takes a term.
func (r Voter) Answer(
	to proto.NodeID, term proto.Term, nonce uint64, bar proto.Bar, holder proto.NodeID,
) proto.Message {
	return r.Msg(to, term, proto.PreVoteReply{Session: Session(to), Nonce: nonce, Answer: no(bar, holder)})
}

func no(bar proto.Bar, holder proto.NodeID) proto.Answer {
	return proto.Answer{Bar: bar, Holder: holder}
}
