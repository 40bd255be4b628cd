package raft

import "github.com/ringleader-dev/ringleader/proto"

// offered asks the voters before this node says that it would lead.
func (m *Machine) offered(msg proto.Message, b proto.Offer) {
	if r, term, asks := m.Offered(msg, b); asks {
		m.Tell(term, proto.PreVote(r))
	}
}

// offerReplied leaves once the successor said that it would lead.
func (m *Machine) offerReplied(msg proto.Message, b proto.Reply) {
	if m.Replied(msg, b) {
		m.leave(m.Handing.Heir.ID.String() + " would take over")
	}
}

// takeOver stands at once: the last leader leads no more and chose this process.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	idle := m.Stand.Phase == follower && m.Stand.Leaving == 0
	if m.TakeOver(msg, b, idle, m.Known+1) {
		m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "handed over")
	}
}
