package lease

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// takeEligible notes whether the host lets this node lead.
func (m *Machine) takeEligible(ev algorithms.Eligible) {
	m.ineligibility = ""
	if !ev.OK {
		m.ineligibility = cmp.Or(ev.Why, "no reason was given")
	}
}

// ineligible returns why this node is not eligible, or "" if it is eligible.
func (m *Machine) ineligible() string {
	if m.ineligibility == "" && m.misled {
		return m.list.state.List.String() + " are not those of the cluster"
	}
	if m.ineligibility == "" && !m.backOffEnd.IsZero() {
		return "three candidacies in a row failed"
	}
	return m.ineligibility
}

// stands reports whether this node would be a candidate: it has not resigned, and is eligible.
func (m *Machine) stands() bool { return !m.resigned && m.ineligible() == "" }

// failuresToBackOff is the number of candidacies in a row that must fail before a node lets others try.
// "After three, mark oneself ineligible for a while so that the nominators skip one."
const failuresToBackOff = 3

var (
	whyBackOff = reasons.Kind("back-off", "%d candidacies in a row failed -> do not stand for %v, others may")
	whyTried   = reasons.Kind("tried", "others had time to try -> stand again")
	whyAlone   = reasons.Kind("alone", "no other could stand any more -> stand again")
)

// backOff begins a back-off after every third candidacy in a row that failed, unless no other node could
// stand. It reports whether it began a back-off. A node that stands first and fails may be the reason
// why nobody leads. The network may be the reason, too, so the pauses between candidacies still grow.
func (m *Machine) backOff() bool {
	s := &m.candidacy
	if s.Failed == 0 || s.Failed%failuresToBackOff != 0 || !m.anotherStands() {
		return false
	}
	m.why(whyBackOff, s.Failed, BackOffFor(m.cfg.Promise))
	m.backOffEnd = m.now.Add(BackOffFor(m.cfg.Promise))
	return true
}

// endBackOff ends a back-off when its time is over, or when no other node could stand any more. It
// reports whether it ended a back-off.
func (m *Machine) endBackOff() bool {
	switch {
	case m.backOffEnd.IsZero():
		return false
	case !m.now.Before(m.backOffEnd):
		m.why(whyTried)
	case !m.anotherStands():
		m.why(whyAlone)
	default:
		return false
	}
	m.backOffEnd = time.Time{}
	return true
}

// anotherStands reports whether another voter is alive and eligible, as far as is known.
func (m *Machine) anotherStands() bool {
	for other := range m.others {
		if !other.Ineligible {
			return true
		}
	}
	return false
}

// eligible handles the host's event that this node may lead, or may not lead. A node that may not lead
// still votes and follows.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.takeEligible(ev)
	m.tellNomination(ev.Keep)
	switch {
	case ev.OK:
	case ev.Keep && m.leads():
		m.why(whyKeepsTerm, m.ineligibility, m.candidacy.term)
	default:
		m.leave(whyIneligible.Of(m.ineligibility))
	}
}

// tellNomination tells the nominating Machine whether this node may be nominated. If so, it also passes
// on a call of an election that came during a back-off.
func (m *Machine) tellNomination(keep bool) {
	why := m.ineligible()
	m.nominate(algorithms.Eligible{OK: why == "", Keep: keep, Why: why})
	if called := m.called; why == "" && called != "" {
		m.called = ""
		m.nominate(algorithms.Campaign{Reason: called})
	}
}

// campaign handles an operator's call of an election. The call ends a resignation. During a back-off the
// nominating Machine refuses the call, so it gets the call again when the back-off is over.
func (m *Machine) campaign(ev algorithms.Campaign) {
	if m.ineligibility == "" {
		m.resigned = false
		if m.candidacy.phase == idle {
			m.retryAt, m.handing.yield = time.Time{}, time.Time{}
		}
		if !m.backOffEnd.IsZero() {
			m.called = cmp.Or(ev.Reason, "called")
		}
	}
	m.nominate(ev)
}
