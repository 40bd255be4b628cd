package steptest

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// listed is a Machine all of whose cluster has one list of voters, the first and committed:
// tests about other things neither say nor see it.
type listed struct {
	algorithms.Machine
	state algorithms.VoterState
}

func withList(m algorithms.Machine, voters []proto.NodeID) algorithms.Machine {
	return listed{m, algorithms.VoterState{List: proto.ListVoters(voters), Committed: true}}
}

func (l listed) set() proto.VoterSet {
	return proto.VoterSet{Hash: l.state.List.Hash(), Committed: true}
}

// Step adds the list to what says none, and takes it out of what says this one.
func (l listed) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	switch e := ev.(type) {
	case algorithms.Start:
		if e.Saved.Voters == (algorithms.VoterState{}) {
			e.Saved.Voters = l.state
		}
		ev = e
	case algorithms.Receive:
		e.Body = exchange(e.Body, proto.VoterSet{}, l.set())
		ev = e
	}
	out := l.Machine.Step(now, ev)
	out.Send = slices.Clone(out.Send)
	for i := range out.Send {
		out.Send[i].Body = exchange(out.Send[i].Body, l.set(), proto.VoterSet{})
	}
	if out.Save != nil && out.Save.Voters == l.state {
		out.Save.Voters = algorithms.VoterState{}
	}
	if out.Voters == l.state {
		out.Voters = algorithms.VoterState{}
	}
	return out
}

// exchange puts one set of voters in the place of another, if a body says that.
func exchange(body proto.Body, was, is proto.VoterSet) proto.Body {
	swap := func(s *proto.VoterSet) {
		if *s == was {
			*s = is
		}
	}
	switch b := body.(type) {
	case proto.PreVote:
		swap(&b.Voters)
		return b
	case proto.PreVoteReply:
		swap(&b.Voters)
		return b
	case proto.RequestVote:
		swap(&b.Voters)
		return b
	case proto.Vote:
		swap(&b.Voters)
		return b
	case proto.Renew:
		swap(&b.Voters)
		return b
	case proto.Heartbeat:
		swap(&b.Voters)
		return b
	case proto.HeartbeatReply:
		swap(&b.Voters)
		return b
	case proto.Lease:
		swap(&b.Voters)
		return b
	case proto.VoterState:
		swap(&b.Voters)
		return b
	}
	return body
}
