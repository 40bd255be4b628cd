package office

import "github.com/ringleader-dev/ringleader/proto"

// A voter of which nothing is saved is either new or has lost its disk. It cannot
// tell; those who met its former life can. So once it hears of an office it asks
// all voters, and each that knows of a vote of it says in which term. A vote above
// all that it made itself is one of a former life.

// inquire asks whether anybody has met this voter before: once for each office.
func (m *Machine) inquire() {
	if m.votes() && !m.rejoin.active && m.new && m.state.Vote.Term == 0 {
		m.why("nothing is saved of this voter, and there is an office -> ask whether it voted before")
		m.tell(0, proto.Return{Session: m.cfg.Session})
	}
}

// meet notes that a voter has voted in a term, or in a higher one.
func (m *Machine) meet(id proto.NodeID, term proto.Term) {
	m.met[id] = max(m.met[id], term)
}

// recognize tells a voter that asks what it is known to have voted in.
func (m *Machine) recognize(msg proto.Message, b proto.Return) {
	if term := m.met[msg.From]; term > 0 {
		m.send(msg.From, term, proto.Standing{Session: b.Session})
	}
}

// recognized hears what this voter is known to have voted in.
func (m *Machine) recognized(msg proto.Message) {
	if m.new && msg.Term > m.state.Vote.Term {
		m.refuse("%d knows of a vote of this voter in term %d, and it has none saved -> "+
			"its disk was lost: end", msg.From, msg.Term)
		m.out.Forgot = true
	}
}
