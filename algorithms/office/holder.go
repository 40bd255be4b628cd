package office

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// holds reports whether this node holds the office.
func (m *Machine) holds() bool { return m.Stand.Phase == holding }

// keepOffice renews when it is time, and hands over to a better node that has
// been there for long.
func (m *Machine) keepOffice() {
	s := &m.Stand
	m.ExpireOffer()
	if at := m.handOverAt(); !at.IsZero() && !m.Now.Before(at) {
		m.prefer()
	}
	if !m.Now.Before(s.Next) || m.LendDue() {
		m.renew()
	}
}

// renew begins a round of questions for the promises anew, unless too many have not been answered.
func (m *Machine) renew() {
	if m.Unanswered() >= mostRounds {
		m.Stand.Next = time.Time{}
		return
	}
	r := m.Renew()
	if m.Stand.Phase == fence { // it does not lead yet
		m.Tell(m.Stand.Term, proto.RequestVote(r))
		m.countGrants()
		return
	}
	m.Tell(m.Stand.Term, proto.Renew{
		Session: r.Session, Nonce: r.Nonce, Voters: r.Voters, Lent: m.Lending(),
	})
	m.countGrants()
}

// handOverAt is when the holder hands over to the nominee: once that has been the
// better choice long enough, and the holder in office. It is zero while the
// holder is the best choice itself.
func (m *Machine) handOverAt() time.Time {
	if m.nominated() || !m.Voters.Has(m.nominee.ID) || m.Handing.Stays || m.Offering() {
		return time.Time{}
	}
	for _, p := range m.Alive {
		better := !p.Ineligible && p.Rank().Compare(m.Self.Rank()) > 0
		if better && p.ID == m.nominee.ID && p.Session == m.nominee.Session {
			return m.PreferAt(m.nomineeSince)
		}
	}
	return time.Time{}
}

// prefer offers the office to the nominee.
func (m *Machine) prefer() {
	for _, p := range m.Alive {
		if p.ID == m.nominee.ID {
			m.Prefer(p)
		}
	}
}

// leave ends the office, if this node holds it: it leads no more from this Step
// on. RELEASE follows when Idle says that all its work has stopped.
func (m *Machine) leave(reason string) {
	s := &m.Stand
	switch s.Phase {
	case asking:
		m.Handing.Drop()
		s.Stop()
	case claiming, fence:
		m.giveUpClaim(reason)
	case holding:
		m.Why("%s -> leave the office of term %d", reason, s.Term)
		m.Leave()
		m.heard = m.Now
		m.retryAt = m.Now.Add(RenewEvery(m.Cfg.Promise))
	case idle:
	}
}

// announce tells others that this node holds the office, and for how long.
func (m *Machine) announce(to ...proto.Peer) {
	s := &m.Stand
	body := proto.Lease{
		Leader:    m.Self,
		Remaining: s.LeaseEnd.Sub(m.Now).Truncate(time.Microsecond),
		Voters:    m.VoterSet(),
	}
	if body.Remaining <= 0 {
		return
	}
	send := slices.Grow(m.Out.Send, len(to))
	msg := proto.Message{From: m.Cfg.Self, Term: s.Term, Body: body}
	for i := range to {
		if id := to[i].ID; id != m.Cfg.Self {
			send = algorithms.AppendTo(send, &msg, id)
		}
	}
	m.Out.Send = send
}

// deadlines appends to at when this part of the Machine wants to be woken.
func (m *Machine) deadlines(at []time.Time) []time.Time {
	s := &m.Stand
	at = append(at, m.FreeAt(), m.Belief.Until, s.Due, m.Recess, m.Rejoin.At(), m.Handing.Due)
	if m.holds() {
		at = append(at, s.Next, m.handOverAt())
	}
	if s.Phase == fence {
		at = append(at, s.Next, s.LeaseEnd)
		if m.fencing.asked == nil {
			at = append(at, m.fencing.at)
		}
	}
	if m.Votes() && !m.Rejoin.Active && s.Phase == idle && m.Stands() && m.Belief.ID == 0 && s.Leaving == 0 {
		at = append(at, m.nextTry())
	}
	return at
}

// nextTry is when an idle voter may stand.
func (m *Machine) nextTry() time.Time {
	turn := m.standAt()
	if m.nominated() || m.Handing.Chosen || m.contends() {
		turn = m.Now
	}
	for _, not := range []time.Time{m.retryAt, m.Handing.Yield} {
		if not.After(turn) {
			turn = not
		}
	}
	return turn
}
