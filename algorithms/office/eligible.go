package office

import (
	"cmp"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// eligible takes the host's word on whether this node may hold the office. One
// that may not votes and grants as ever.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.Bar(ev)
	m.tellNomination(ev.Keep)
	switch {
	case ev.OK:
	case ev.Keep && m.holds():
		m.Why("not eligible: %s -> hold the office of term %d on, do not stand again",
			m.Barred, m.Stand.Term)
	default:
		m.leave("not eligible: " + m.Barred)
	}
}

// tellNomination tells the nominating Machine whether this node may be nominated.
func (m *Machine) tellNomination(keep bool) {
	why := m.Ineligible()
	m.nominate(algorithms.Eligible{OK: why == "", Keep: keep, Why: why})
	if called := m.called; why == "" && called != "" {
		m.called = ""
		m.nominate(algorithms.Campaign{Reason: called})
	}
}

// campaign is the operator's wish: it ends a resignation, in the nomination too. That
// hears of it once a recess is over, since it refuses while it is told of one.
func (m *Machine) campaign(ev algorithms.Campaign) {
	if m.Barred == "" {
		m.Resigned = false
		if !m.Recess.IsZero() {
			m.called = cmp.Or(ev.Reason, "called")
		}
	}
	m.nominate(ev)
}
