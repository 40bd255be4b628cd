package raft

import "github.com/ringleader-dev/ringleader/algorithms"

// eligible takes the host's word on whether this node may lead. One that may not
// votes and follows as ever.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.barred = ""
	if ev.OK {
		return
	}
	m.barred = ev.Why
	if m.barred == "" {
		m.barred = "no reason was given"
	}
	if ev.Keep && m.leads() {
		m.why("not eligible: %s -> lead term %d on, do not stand again", m.barred, m.stand.term)
		return
	}
	m.leave("not eligible: " + m.barred)
}

// ineligible is why this node is not eligible, "" if it is.
func (m *Machine) ineligible() string {
	if m.barred == "" && !m.recess.IsZero() {
		return "three candidacies in a row failed"
	}
	return m.barred
}

// stands reports whether this node would lead.
func (m *Machine) stands() bool { return !m.resigned && m.ineligible() == "" }

// failuresToRecess is how many candidacies of a node may fail in a row before it
// leaves the next to others.
const failuresToRecess = 3

// takeRecess lets others try: a node whose candidacies fail though it stands first may
// be the reason why nobody leads.
func (m *Machine) takeRecess() {
	m.why("%d candidacies in a row failed -> do not stand for %v, others may",
		m.stand.failed, recessOf(m.cfg.Promise))
	m.stand.failed = 0
	m.recess = m.now.Add(recessOf(m.cfg.Promise))
}
