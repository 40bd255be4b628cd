package raft

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	if !m.leads() {
		m.loseOffer()
	}
	if m.dirty {
		save := m.state
		m.out.Save, m.dirty = &save, false
	}
	for _, at := range m.deadlines() {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
	m.out.Leader = m.belief
	if m.belief.ID == 0 {
		m.out.Leader = algorithms.Leader{Term: m.seen.Term}
	}
	m.out.Ineligible = m.ineligible()
	m.out.Round = max(m.known, m.handing.given, m.about)
	if m.stand.role == preCandidate {
		m.out.Round = max(m.out.Round, m.stand.term)
	}
	out := m.out
	m.out = algorithms.Output{}
	return out
}

// deadlines are when the Machine wants to be woken.
func (m *Machine) deadlines() [9]time.Time {
	s := &m.stand
	at := [9]time.Time{m.belief.Until, s.due, m.recess, m.rejoin.due, m.handing.due}
	if m.leads() {
		at[5], at[6] = s.beatAt, m.preferAt()
	}
	if len(m.voter.waiting) > 0 {
		_, at[7] = m.free()
	}
	if m.mayWait() {
		at[8] = m.standAt()
	}
	return at
}

func (m *Machine) why(format string, args ...any) {
	m.out.Why = append(m.out.Why, fmt.Sprintf(format, args...))
}

func (m *Machine) refuse(format string, args ...any) {
	m.why(format, args...)
	m.out.Warn = true
}

func (m *Machine) send(to proto.NodeID, term proto.Term, body proto.Body) {
	m.out.Send = append(m.out.Send, proto.Message{From: m.cfg.Self, To: to, Term: term, Body: body})
}

// tell sends to every other voter.
func (m *Machine) tell(term proto.Term, body proto.Body) {
	m.out.Send = slices.Grow(m.out.Send, len(m.voters)-1)
	for _, id := range m.voters {
		if id != m.cfg.Self {
			m.send(id, term, body)
		}
	}
}
