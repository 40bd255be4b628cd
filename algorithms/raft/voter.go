package raft

import (
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// promised gives the sender this voter's promise, and its vote if it has not had that,
// or denies it. A refusal changes nothing.
func (m *Machine) promised(msg proto.Message, r lease.Request, lent bool) {
	switch m.Judge(msg, r) {
	case lease.Denied:
		return
	case lease.Free:
		m.vote(msg.Term, msg.From, r.Session)
		fallthrough // who asks for a lease to lend may get the vote first
	case lease.Kept:
		m.Renewed(lent)
	}
	m.reset()
	m.Reply(msg, r, proto.Answer{}, "")
}

// vote binds the voter. The State leaves with the Output, and is durable before the
// VOTE: "Updated on stable storage before responding to RPCs".
func (m *Machine) vote(term proto.Term, id proto.NodeID, s proto.Session) {
	m.State.Term, m.State.Reserved = term, term
	m.Vote(term, id, s)
	if m.Belief.Session != s {
		m.forget(proto.Peer{ID: m.Belief.ID, Session: m.Belief.Session}, "has lost this voter's promise")
	}
}

// released ends the promise to exactly the process that gives it back. The vote
// stays.
func (m *Machine) released(msg proto.Message, b proto.Release) {
	if !m.WasReleased(msg, b) {
		return
	}
	m.standBy(0, isVacant, 0)
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "released the term")
	m.GiveWay(b.Heir)
}
