package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	if !m.leads() {
		m.LoseOffer()
		m.LoseLend()
	}
	at := m.deadlines()
	m.Wake(at[:]...)
	m.Out.Round = max(m.Known, m.Handing.Given, m.about)
	if m.Stand.Phase == preCandidate {
		m.Out.Round = max(m.Out.Round, m.Stand.Term)
	}
	return m.End()
}

// deadlines are when the Machine wants to be woken.
func (m *Machine) deadlines() [9]time.Time {
	s := &m.Stand
	at := [9]time.Time{m.Belief.Until, s.Due, m.Recess, m.Rejoin.At(), m.Handing.Due, m.FreeAt()}
	if m.leads() {
		at[6], at[7] = s.Next, m.preferAt()
	}
	if m.mayWait() {
		at[8] = m.standAt()
	}
	return at
}
