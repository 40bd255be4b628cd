package raft

import "time"

// Raft elects whoever stands first. Where the operator wants the best to lead, a leader
// hands over to a node that ranks above it: that is one of the uses that Ongaro (2014),
// 3.10, has for a transfer.

// notePreference notes who would be better. The highest of them counts.
func (m *Machine) notePreference() {
	best := m.Self
	for i := range m.living {
		p := &m.living[i]
		if !p.Ineligible && p.Rank().Compare(best.Rank()) > 0 && m.Voter.Dead[p.ID] != p.Session {
			best = *p
		}
	}
	if !best.Is(m.best) {
		m.bestSince = m.Now
	}
	m.best = best
}

// preferAt is when the leader hands over: once the other has been better long enough,
// and the leader leading. It is zero while the leader is the best itself.
func (m *Machine) preferAt() time.Time {
	if !m.Cfg.Preempt || m.best.ID == 0 || m.best.ID == m.Cfg.Self || m.Handing.Stays || m.Offering() {
		return time.Time{}
	}
	return m.PreferAt(m.bestSince)
}
