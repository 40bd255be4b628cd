package raft

import "github.com/ringleader-dev/ringleader/proto"

// stood hears what another voter voted in: for a voter that may have lost its disk, or
// for a term that was absurdly far above all that this node knows. There are no terms
// here but those that are voted in.
func (m *Machine) stood(msg proto.Message, b proto.VoterState) {
	msg.Term = max(msg.Term, b.Round)
	m.ToldTerm(msg, b)
	if m.Stood(msg, b) {
		m.readmitted()
	}
}

// heardUnvoted hears of a voter that it never voted.
func (m *Machine) heardUnvoted(msg proto.Message, b proto.Unvoted) {
	if m.HeardUnvoted(msg, b) {
		m.readmitted()
	}
}

// readmitted begins to vote, after what this voter was told.
func (m *Machine) readmitted() {
	floor := max(m.State.Term, m.State.Vote.Term) // another algorithm may have saved a term
	m.State.Term, m.State.Reserved, m.State.Vote.Term, m.Known = floor, floor, floor, max(m.Known, floor)
	m.standBy(startDelay(m.Cfg.Delta), hasStarted, 0)
}
