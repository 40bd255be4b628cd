package office

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// eligible takes the host's word on whether this node may hold the office. One
// that may not votes and grants as ever.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.barred = ""
	if !ev.OK {
		m.barred = ev.Why
		if m.barred == "" {
			m.barred = "no reason was given"
		}
	}
	m.tellNomination(ev.Keep)
	switch {
	case ev.OK:
	case ev.Keep && m.holds():
		m.why("not eligible: %s -> hold the office of term %d on, do not stand again",
			m.barred, m.stand.term)
	default:
		m.leave("not eligible: " + m.barred)
	}
}

// tellNomination tells the nominating Machine whether this node may be nominated.
func (m *Machine) tellNomination(keep bool) {
	why := m.ineligible()
	m.nominate(algorithms.Eligible{OK: why == "", Keep: keep, Why: why})
	if called := m.called; why == "" && called != "" {
		m.called = ""
		m.nominate(algorithms.Campaign{Reason: called})
	}
}

// campaign is the operator's wish: it ends a resignation, in the nomination too. That
// hears of it once a recess is over, since it refuses while it is told of one.
func (m *Machine) campaign(ev algorithms.Campaign) {
	if m.barred == "" {
		m.resigned = false
		if !m.recess.IsZero() {
			m.called = cmp.Or(ev.Reason, "called")
		}
	}
	m.nominate(ev)
}

// ineligible is why this node is not eligible, "" if it is.
func (m *Machine) ineligible() string {
	if m.barred == "" && !m.recess.IsZero() {
		return "three claims in a row failed"
	}
	return m.barred
}

// stands reports whether this node would stand for the office.
func (m *Machine) stands() bool { return !m.resigned && m.ineligible() == "" }

// failuresToRecess is how many claims of a node may fail in a row before another
// is to try. "After three, mark oneself ineligible for a while so that the
// nominators skip one."
const failuresToRecess = 3

// takeRecess lets others try: a node whose claims fail while it is nominated may be
// the reason why nobody leads.
func (m *Machine) takeRecess() {
	m.why("%d claims in a row failed -> do not stand for %v, others may",
		m.stand.failed, recessOf(m.cfg.Promise))
	m.stand.failed = 0
	m.recess = m.now.Add(recessOf(m.cfg.Promise))
	m.tellNomination(false)
}

func (m *Machine) endRecess() {
	m.recess = time.Time{}
	m.why("others had time to try -> stand again")
	m.tellNomination(false)
}
