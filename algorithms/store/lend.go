package store

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
)

// lending is a lease that the leader lends to another process. The proof that the leader is dead says
// nothing about that process. So the entry in the store is marked as lent before anything is lent, and
// nobody removes a marked entry. The mark stays until the leadership ends.
type lending struct {
	wanted bool // the host asked for a loan, and waits for the answer
	marked bool // the entry is marked
}

// due reports whether the entry is to be marked, or renewed for a loan, now.
func (l *lending) due() bool { return l.wanted }

// marks reports whether the next renewal marks the entry.
func (l *lending) marks() bool { return l.wanted || l.marked }

// lend handles the host's request for a lease to lend.
func (m *Machine) lend() {
	no := m.refusing(0)
	switch {
	case !m.leads() && m.belief.ID == 0:
		m.refuseLend(no.Nobody())
	case !m.leads():
		m.refuseLend(no.Elsewhere(m.belief.ID))
	case m.offering():
		m.refuseLend(no.UnderWay(m.handing.to.ID))
	default:
		m.leading.lend.wanted = true
	}
}

// lent lends the lease that the store renewed until the given time, if that renewal marked the entry.
func (m *Machine) lent(ask *algorithms.Ask, until time.Time) {
	l := &m.leading.lend
	if ask.Lent {
		l.marked = true
	}
	if !l.wanted || !ask.Lent {
		return
	}
	l.wanted = false
	m.out.Lent = &algorithms.LendEnd{For: lease.ByAnyClock(until.Sub(m.now)), Until: until}
}

// loseLend refuses the host's open request for a loan when this node no longer leads.
func (m *Machine) loseLend() {
	if m.leading.lend.wanted {
		m.refuseLend(m.refusing(0).Lost())
	}
}

func (m *Machine) refuseLend(why algorithms.Refusal) {
	m.leading.lend.wanted = false
	m.out.Lent = &algorithms.LendEnd{Refused: why.String()}
}
