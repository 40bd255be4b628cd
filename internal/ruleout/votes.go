package ruleout

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/mutant"
	"github.com/ringleader-dev/ringleader/proto"
)

// impatient does not wait for the old leader's lease: that its detector does not see the leader is enough to
// end the promise, as a proof of death does.
func impatient(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := &mutant.Machine{Machine: real, Self: c.Self}
	m.Undo = func(now time.Time, _ algorithms.Event, out *algorithms.Output) {
		for _, p := range m.Gone {
			m.Also(now, algorithms.PeerProvenDead{ID: p.ID, Incarnation: p.Incarnation}, out)
		}
	}
	return m
}

// counted needs no majority of all voters: whoever is not in its view counts as if it had voted yes.
func counted(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := &mutant.Machine{Machine: real, Self: c.Self}
	m.Undo = func(now time.Time, _ algorithms.Event, out *algorithms.Output) {
		for i := 0; i < len(out.Send); i++ {
			msg := out.Send[i]
			yes := consent(msg)
			if yes == nil || m.Peer(msg.To).ID != 0 || !slices.Contains(c.Voters, msg.To) {
				continue
			}
			m.Also(now, algorithms.Receive{Message: proto.Message{
				From: msg.To, To: m.Self, Term: msg.Term, Body: yes,
			}}, out)
		}
	}
	return m
}

// consent returns the yes of a voter that was asked; nil if the message asks none.
func consent(msg proto.Message) proto.Body {
	switch b := msg.Body.(type) {
	case proto.PreVote:
		return proto.PreVoteReply{Incarnation: b.Incarnation, Nonce: b.Nonce, Voters: b.Voters}
	case proto.RequestVote:
		return proto.Vote{Incarnation: b.Incarnation, Nonce: b.Nonce, Voters: b.Voters}
	case proto.Heartbeat:
		return proto.HeartbeatReply{Incarnation: b.Leader.Incarnation, Nonce: b.Nonce, Voters: b.Voters}
	}
	return nil
}
