package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// The proof that a leader's process is dead does not end a lease that it lent to another process. So the
// voters have to know of a loan before it is made: the leader begins a round of heartbeats that are
// marked as being for a loan (Heartbeat.Lent), and lends the lease that a majority promises in that
// round. A voter that answered keeps this promise even if the leader is proven dead. Only RELEASE ends
// the promise earlier: the leader sends RELEASE when the last loan has ended or was given back.

// lending is a loan that the leader prepares: it has not lent the lease yet.
type lending struct {
	wanted bool   // the host asked for a loan, and waits for the answer
	from   uint64 // the nonce of the first round whose heartbeats are marked; zero before that
}

// lend handles the host's request for a lease to lend.
func (m *Machine) lend() {
	no := m.refusing(0)
	switch {
	case m.candidacy.phase != leading && m.belief.ID == 0:
		m.refuseLend(no.Nobody())
	case m.candidacy.phase != leading:
		m.refuseLend(no.Elsewhere(m.belief.ID))
	case m.offering():
		m.refuseLend(no.UnderWay(m.handing.to.ID))
	default:
		m.candidacy.lend.wanted = true
	}
}

// lendDue reports whether the leader must begin a round of heartbeats for a loan now. The leader first
// waits until a majority has answered its last round. So loans do not cause more open rounds.
func (m *Machine) lendDue() bool {
	s := &m.candidacy
	return s.lend.wanted && s.lend.from == 0 && s.yes.Of(m.voters)
}

// lending reports whether the present round of heartbeats is for a loan.
func (m *Machine) lending() bool { return m.candidacy.lend.from != 0 }

// lent lends the lease that a majority promised in the round with this nonce, if that round was for a
// loan. end is when the lease ends. The loan is shorter than the lease, since the borrower has another
// clock.
func (m *Machine) lent(nonce uint64, end time.Time) {
	l := &m.candidacy.lend
	if l.from == 0 || nonce < l.from {
		return
	}
	*l = lending{}
	m.out.Lent = &algorithms.LendEnd{For: ByAnyClock(end.Sub(m.now)), Until: end}
}

// loseLend refuses the host's open request for a loan when this node no longer leads.
func (m *Machine) loseLend() {
	if m.candidacy.lend.wanted {
		m.refuseLend(m.refusing(0).Lost())
	}
}

// refuseLend refuses the host's request for a loan. It writes no reason into the record: while this node
// does not lead, a process that wants a loan may ask many times a second.
func (m *Machine) refuseLend(why algorithms.Refusal) {
	m.candidacy.lend = lending{}
	m.out.Lent = &algorithms.LendEnd{Refused: why.String()}
}

// renewed renews this voter's promise. If lent is true, no proof of death ends the promise before its
// time is over. A later renewal with lent false does not change that.
func (m *Machine) renewed(lent bool) {
	m.promise()
	if lent {
		m.voter.kept = m.voter.promise
	}
}
