package office

import (
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// claimed answers REQUEST_VOTE and RENEW. A refusal changes nothing.
func (m *Machine) claimed(msg proto.Message, r lease.Request, lent bool) {
	switch m.Judge(msg, r) {
	case lease.Denied:
		return
	case lease.Free:
		m.vote(msg.Term, msg.From, r.Session)
		fallthrough // who asks for a lease to lend may get the vote first
	case lease.Kept:
		m.Renewed(lent)
	}
	m.heard = m.Now
	m.Reply(msg, r, proto.Answer{}, m.account())
}

// vote binds the voter. The State leaves with the Output, and is durable before
// the VOTE.
func (m *Machine) vote(term proto.Term, id proto.NodeID, s proto.Session) {
	m.remember(id)
	m.Vote(term, id, s)
	if m.Belief.Session != s {
		m.forget(proto.Peer{ID: m.Belief.ID, Session: m.Belief.Session}, "has lost this voter's promise")
	}
}

// released ends the promise to exactly the process that gives it back. The vote
// stays.
func (m *Machine) released(msg proto.Message, b proto.Release) {
	last := proto.Epoch{Term: msg.Term, Leader: msg.From, Session: b.Session}
	if was := m.releases[msg.From]; was.Session != b.Session || was.Term < msg.Term {
		m.releases[msg.From] = last
	}
	// A process that goes on well must not be shot: this is worth the disk.
	m.Dirty = m.strike(upTo(last)) || m.Dirty
	if !m.WasReleased(msg, b) {
		return
	}
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "released the office")
	m.GiveWay(b.Heir)
}
