package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/proto"
)

// leads reports whether this node leads.
func (m *Machine) leads() bool { return m.stand.role == leader }

// becomeLeader: "Once a candidate wins an election, it becomes leader. It then sends
// heartbeat messages to all of the other servers to establish its authority". This
// heartbeat belongs to the round of the election.
func (m *Machine) becomeLeader() {
	s := &m.stand
	m.why("a majority granted term %d -> lead term %d", s.term, s.term)
	s.role, s.taken, s.failed, s.due = leader, m.now, 0, time.Time{}
	s.beatAt = s.noted.Add(HeartbeatEvery(m.cfg.Promise))
	m.seen = m.belief.Epoch()
	m.notePreference()
	m.heartbeatAll()
}

// keepLeading sends heartbeats when it is time, and hands over to a better node that
// has been there for long.
func (m *Machine) keepLeading() {
	s := &m.stand
	if due := m.handing.due; !due.IsZero() && !m.now.Before(due) && m.out.Transfer == nil {
		m.endTransfer("it did not answer in time")
	}
	if at := m.preferAt(); !at.IsZero() && !m.now.Before(at) {
		m.prefer()
	}
	if !s.beatAt.IsZero() && !m.now.Before(s.beatAt) {
		m.beat()
	}
}

// beat begins a round of HEARTBEAT, or ends them until the lease ends: check-quorum. A
// leader that no majority answers steps down (Ongaro 2014, 6.2).
func (m *Machine) beat() {
	s := &m.stand
	if s.beats++; s.beats > mostRounds {
		m.why("no majority answered %d rounds of heartbeats -> ask no more", mostRounds)
		s.beatAt = time.Time{}
		return
	}
	s.nonce++
	s.noted = m.now
	s.beatAt = m.now.Add(HeartbeatEvery(m.cfg.Promise))
	s.yes.Reset()
	s.yes.Add(m.cfg.Self)
	m.voter.promise = m.now.Add(m.cfg.Promise)
	m.heartbeatAll()
	m.countVotes()
}

// heartbeatAll goes to all other voters, and to whoever else is alive.
func (m *Machine) heartbeatAll() {
	body, ok := m.heartbeatNow()
	if !ok {
		return
	}
	m.tell(m.stand.term, body)
	for _, p := range m.learners {
		m.send(p.ID, m.stand.term, body)
	}
}

// heartbeat goes to one that has just come.
func (m *Machine) heartbeat(to proto.NodeID) {
	if body, ok := m.heartbeatNow(); ok {
		m.send(to, m.stand.term, body)
	}
}

// heartbeatNow is the heartbeat of the round in progress; ok is false at the very end
// of the lease.
func (m *Machine) heartbeatNow() (body proto.Body, ok bool) {
	s := &m.stand
	left := s.leaseEnd.Sub(m.now).Truncate(time.Microsecond)
	return proto.Heartbeat{Leader: m.self, Nonce: s.nonce, Remaining: left}, left > 0
}

// heard follows a leader, and gives it this voter's promise anew.
func (m *Machine) heard(msg proto.Message, b proto.Heartbeat) {
	if msg.From != b.Leader.ID {
		m.refuse("%d says that %d leads -> drop it", msg.From, b.Leader.ID)
		return
	}
	stood := m.stand.role >= candidate
	m.follow(msg, b)
	// Who gives a term up in this very Step promises from the next heartbeat on: its
	// RELEASE leaves after its vote is saved.
	if m.votes() && stood == (m.stand.role >= candidate) {
		r := request{b.Leader.Session, b.Nonce}
		if m.promised(msg, r) {
			m.send(msg.From, msg.Term, proto.HeartbeatAck(r))
		}
	}
}

// follow takes over who leads: "If the leader's term (included in its RPC) is at least as
// large as the candidate's current term, then the candidate recognizes the leader as
// legitimate and returns to follower state."
func (m *Machine) follow(msg proto.Message, b proto.Heartbeat) {
	epoch := proto.Epoch{Term: msg.Term, Leader: b.Leader.ID, Session: b.Leader.Session}
	switch {
	case epoch.Compare(m.seen) < 0, m.stand.role >= candidate && msg.Term < m.stand.term:
		m.why("HEARTBEAT of term %d is below term %d -> do not follow", msg.Term,
			max(m.seen.Term, m.stand.term))
		return
	case m.voter.dead[msg.From] == b.Leader.Session,
		m.voter.over && msg.Term == m.state.Vote.Term && m.bound(msg.From, b.Leader.Session):
		m.why("%d is gone or released term %d -> do not follow", msg.From, msg.Term)
		return
	case m.stand.role >= candidate:
		m.leave(msg.From.String() + " leads")
	}
	if epoch != m.belief.Epoch() {
		m.why("%d leads term %d -> follow it", msg.From, msg.Term)
		m.inquire()
	}
	m.meet(msg.From, msg.Term)
	m.seen, m.known = epoch, max(m.known, msg.Term)
	m.belief = algorithms.Leader{
		ID: msg.From, Session: b.Leader.Session, Term: msg.Term,
		Until: m.now.Add(min(b.Remaining, office.LeaseOf(m.cfg.Promise))),
	}
	if m.stand.role == preCandidate {
		m.stand.stop()
	}
	m.handing.chosen, m.handing.stays, m.timer.yield = false, false, time.Time{}
	m.reset()
}

// leave ends a candidacy, or the leadership: it leads no more from this Step on.
// RELEASE follows when Idle says that all its work has stopped.
func (m *Machine) leave(reason string) {
	s := &m.stand
	switch s.role {
	case preCandidate:
		m.handing.chosen, m.handing.stays = false, false
		s.stop()
	case candidate:
		m.giveUp(reason)
	case leader:
		m.why("%s -> lead term %d no more", reason, s.term)
		m.belief = algorithms.Leader{}
		s.leaving = s.term
		m.handing = transfer{
			nonce: m.handing.nonce, to: m.handing.to, asked: m.handing.asked, given: m.handing.given,
		}
		s.stop()
		m.reset()
	case follower:
	}
}

// idle releases the term once what was done in it has stopped.
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
