package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// preference is how a leader hands over to a node that ranks above it, where the
// operator wants the best to lead. Raft elects whoever stands first; a node that is
// better suited is one of the uses that Ongaro (2014), 3.10, has for a transfer.
type preference struct {
	best  proto.Peer // who ranks above this leader, nobody if none does
	since time.Time  // since when it is that one
	times int        // it was offered to such a node of late
	until time.Time  // it is not offered again before
}

// notePreference notes who would be better. The highest of them counts.
func (m *Machine) notePreference() {
	best := m.self
	for _, p := range m.others {
		if !p.Ineligible && p.Rank().Compare(best.Rank()) > 0 && m.voter.dead[p.ID] != p.Session {
			best = p
		}
	}
	if p := &m.preferred; !best.Is(p.best) {
		p.best, p.since = best, m.now
	} else {
		p.best = best
	}
}

// preferAt is when the leader hands over: once the other has been better long enough,
// and the leader leading. It is zero while the leader is the best itself.
func (m *Machine) preferAt() time.Time {
	p := &m.preferred
	if !m.cfg.Preempt || p.best.ID == 0 || p.best.ID == m.cfg.Self || m.handing.stays || m.handing.to.ID != 0 {
		return time.Time{}
	}
	since := p.since
	if m.stand.taken.After(since) {
		since = m.stand.taken
	}
	at := since.Add(preferAfter(m.cfg.Promise))
	if p.until.After(at) {
		return p.until
	}
	return at
}

// prefer offers the leadership to the better node. Whether that takes it or not, the
// next time is far off, and ever farther while the ranks flap.
func (m *Machine) prefer() {
	p := &m.preferred
	if m.now.Sub(p.until) > mostPenalty(m.cfg.Promise) {
		p.times = 0
	}
	p.times++
	p.until = m.now.Add(preferPenalty(m.cfg.Promise, p.times))
	m.why("%d has ranked above this node for long -> offer to hand over, and to nobody again for %v",
		p.best.ID, p.until.Sub(m.now))
	m.offer(p.best)
}
