package office

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// holds reports whether this node holds the office.
func (m *Machine) holds() bool { return m.stand.phase == holding }

// keepOffice renews when it is time, and hands over to a better node that has
// been there for long.
func (m *Machine) keepOffice() {
	s := &m.stand
	// A Step tells the end of one transfer: this may be that of another.
	if due := m.handing.due; !due.IsZero() && !m.now.Before(due) && m.out.Transfer == nil {
		m.endTransfer("it did not answer in time")
	}
	if at := m.handOverAt(); !at.IsZero() && !m.now.Before(at) {
		m.prefer()
	}
	if !m.now.Before(s.renewAt) {
		m.renew()
	}
}

// renew begins a round of RENEW.
func (m *Machine) renew() {
	s := &m.stand
	s.nonce++
	s.noted = m.now
	s.renewAt = m.now.Add(RenewEvery(m.cfg.Promise))
	s.yes.Reset()
	s.yes.Add(m.cfg.Self)
	m.voter.promise = m.now.Add(m.cfg.Promise)
	m.tell(s.term, proto.Renew{Session: m.cfg.Session, Nonce: s.nonce})
	m.countGrants()
}

// handOverAt is when the holder hands over to the nominee: once that has been the
// better choice long enough, and the holder in office. It is zero while the
// holder is the best choice itself.
func (m *Machine) handOverAt() time.Time {
	if m.nominated() || !m.voters.Has(m.nominee.ID) || m.handing.stays || m.handing.to.ID != 0 {
		return time.Time{}
	}
	for _, p := range m.alive {
		better := !p.Ineligible && p.Rank().Compare(m.self.Rank()) > 0
		if better && p.ID == m.nominee.ID && p.Session == m.nominee.Session {
			since := m.stand.preferred
			if m.stand.taken.After(since) {
				since = m.stand.taken
			}
			at := since.Add(preferAfter(m.cfg.Promise))
			if calm := m.preferred.until; calm.After(at) {
				at = calm
			}
			return at
		}
	}
	return time.Time{}
}

// prefer offers the office to the nominee. Whether that takes it or not, the next
// time is far off, and ever farther while the ranks flap.
func (m *Machine) prefer() {
	p := &m.preferred
	if m.now.Sub(p.until) > mostPenalty(m.cfg.Promise) {
		p.times = 0
	}
	p.times++
	p.until = m.now.Add(preferPenalty(m.cfg.Promise, p.times))
	m.why("%d has ranked above this node for long -> offer the office to it, and to nobody again for %v",
		m.nominee.ID, p.until.Sub(m.now))
	for _, peer := range m.alive {
		if peer.ID == m.nominee.ID {
			m.offer(peer)
		}
	}
}

// preference is how calm a holder is about a node that ranks above it.
type preference struct {
	times int       // the office was offered to such a node of late
	until time.Time // it is not offered again before
}

// leave ends the office, if this node holds it: it leads no more from this Step
// on. RELEASE follows when Idle says that all its work has stopped.
func (m *Machine) leave(reason string) {
	s := &m.stand
	switch s.phase {
	case asking:
		m.handing.chosen, m.handing.stays = false, false
		s.stop()
	case claiming, fence:
		m.giveUpClaim(reason)
	case holding:
		m.why("%s -> leave the office of term %d", reason, s.term)
		m.belief = algorithms.Leader{}
		s.leaving, s.leaseEnd, s.renewAt = s.term, time.Time{}, time.Time{}
		m.handing = transfer{
			nonce: m.handing.nonce, to: m.handing.to, asked: m.handing.asked, given: m.handing.given,
		}
		s.stop()
		m.heard = m.now
		s.retryAt = m.now.Add(RenewEvery(m.cfg.Promise))
	case idle:
	}
}

// idle releases the office once what was done in it has stopped.
func (m *Machine) idle(term proto.Term) {
	s := &m.stand
	if s.leaving == 0 || term != s.leaving {
		return
	}
	s.leaving = 0
	m.why("the work of term %d has stopped -> release it", term)
	m.release(term)
	m.tellHeir(term)
}

// release gives the promises of the term back, this voter's own with them.
func (m *Machine) release(term proto.Term) {
	if m.bound(m.cfg.Self, m.cfg.Session) && m.state.Vote.Term == term {
		m.voter.over = true
	}
	m.tell(term, proto.Release{Session: m.cfg.Session, Heir: m.handing.heir.ID})
}

// announce tells others that this node holds the office, and for how long.
func (m *Machine) announce(to ...proto.Peer) {
	s := &m.stand
	body := proto.Lease{
		Leader:    m.self,
		Remaining: s.leaseEnd.Sub(m.now).Truncate(time.Microsecond),
	}
	if body.Remaining <= 0 {
		return
	}
	if len(to) > 1 {
		m.out.Send = slices.Grow(m.out.Send, len(to))
	}
	for _, p := range to {
		if p.ID != m.cfg.Self {
			m.send(p.ID, s.term, body)
		}
	}
}

// deadlines are when this part of the Machine wants to be woken.
func (m *Machine) deadlines() []time.Time {
	s := &m.stand
	at := make([]time.Time, 0, 8)
	at = append(at, m.belief.Until, s.due, m.recess, m.rejoin.due)
	if m.holds() {
		at = append(at, s.renewAt, m.handOverAt(), m.handing.due)
	}
	if s.phase == fence {
		at = append(at, s.renewAt, s.leaseEnd)
		if s.fencing.asked == nil {
			at = append(at, s.fencing.at)
		}
	}
	if len(m.voter.waiting) > 0 {
		_, until := m.free()
		at = append(at, until)
	}
	if m.votes() && !m.rejoin.active && s.phase == idle && m.stands() && m.belief.ID == 0 && s.leaving == 0 {
		at = append(at, m.nextTry())
	}
	return at
}

// nextTry is when an idle voter may stand.
func (m *Machine) nextTry() time.Time {
	turn := m.standAt()
	if m.nominated() || m.handing.chosen {
		turn = m.now
	}
	for _, not := range []time.Time{m.stand.retryAt, m.handing.yield} {
		if not.After(turn) {
			turn = not
		}
	}
	return turn
}
