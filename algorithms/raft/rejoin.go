package raft

import "github.com/ringleader-dev/ringleader/proto"

// stood lets a voter that lost its disk back in, once enough others have told it what it
// may have voted in. There are no terms here but those that are voted in.
func (m *Machine) stood(msg proto.Message, b proto.Standing) {
	msg.Term = max(msg.Term, b.Round)
	if !m.Stood(msg, b) {
		return
	}
	m.Readmit()
	m.State.Term, m.State.Reserved = m.State.Vote.Term, m.State.Vote.Term
	m.reset()
}
