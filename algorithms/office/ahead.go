package office

// Contender is a nominating Machine that asks a majority of its own who is nominated.
// The office asks its voters at the same time, so that the two questions take one round
// trip. To ask binds nobody; the term is claimed once this node is nominated, as ever.
type Contender interface {
	// Contends reports whether this node asks to be nominated in the current term.
	Contends() bool
}

// contends reports whether this node may be nominated in a moment.
func (m *Machine) contends() bool { return m.asker != nil && m.asker.Contends() }

// pursueAhead goes on with a question that was asked before it was this node's turn:
// claims when it is, for the term that it asked for, and asks no more when another is
// nominated.
func (m *Machine) pursueAhead() {
	s := &m.Stand
	m.ahead = !m.isTurn()
	switch {
	case m.ahead && !m.contends():
		m.Why("this node is not to be nominated -> do not claim term %d", s.Term)
		s.Stop()
	case s.Term != m.nextTerm(), !m.Now.Before(s.Due):
		m.ask()
	default:
		m.countAnswers()
	}
}
