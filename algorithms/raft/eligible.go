package raft

import "github.com/ringleader-dev/ringleader/algorithms"

// eligible takes the host's word on whether this node may lead. One that may not
// votes and follows as ever.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.Bar(ev)
	if ev.OK {
		return
	}
	if ev.Keep && m.leads() {
		m.Why("not eligible: %s -> lead term %d on, do not stand again", m.Barred, m.Stand.Term)
		return
	}
	m.leave("not eligible: " + m.Barred)
}
