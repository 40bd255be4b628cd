package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// leads reports whether this node leads.
func (m *Machine) leads() bool { return m.Stand.Phase == leader }

// becomeLeader: "Once a candidate wins an election, it becomes leader. It then sends
// heartbeat messages to all of the other servers to establish its authority". This
// heartbeat belongs to the round of the election.
func (m *Machine) becomeLeader() {
	s := &m.Stand
	m.Why("a majority granted term %d -> lead term %d", s.Term, s.Term)
	s.Phase, s.Taken, s.Failed, s.Due = leader, m.Now, 0, time.Time{}
	s.Next = s.Noted.Add(HeartbeatEvery(m.Cfg.Promise))
	m.Seen = m.Belief.Epoch()
	m.notePreference()
	m.heartbeatAll()
}

// keepLeading sends heartbeats when it is time, and hands over to a better node that
// has been there for long.
func (m *Machine) keepLeading() {
	s := &m.Stand
	m.ExpireOffer()
	if at := m.preferAt(); !at.IsZero() && !m.Now.Before(at) {
		m.Prefer(m.best)
	}
	if !s.Next.IsZero() && !m.Now.Before(s.Next) || m.LendDue() {
		m.beat()
	}
}

// beat begins a round of HEARTBEAT, or ends them until the lease ends: check-quorum. A
// leader that no majority answers steps down (Ongaro 2014, 6.2).
func (m *Machine) beat() {
	s := &m.Stand
	if m.beats++; m.beats > mostRounds {
		m.Why("no majority answered %d rounds of heartbeats -> ask no more", mostRounds)
		s.Next = time.Time{}
		return
	}
	m.Renew()
	m.heartbeatAll()
	m.countVotes()
}

// heartbeatAll goes to all other voters, and to whoever else is alive.
func (m *Machine) heartbeatAll() {
	body, ok := m.heartbeatNow()
	if !ok {
		return
	}
	m.Tell(m.Stand.Term, body)
	if len(m.living) == len(m.Alive) {
		return
	}
	for _, p := range m.Alive {
		if !m.Voters.Has(p.ID) {
			m.Send(p.ID, m.Stand.Term, body)
		}
	}
}

// heartbeat goes to one that has just come.
func (m *Machine) heartbeat(to proto.NodeID) {
	if body, ok := m.heartbeatNow(); ok {
		m.Send(to, m.Stand.Term, body)
	}
}

// heartbeatNow is the heartbeat of the round in progress; ok is false at the very end
// of the lease.
func (m *Machine) heartbeatNow() (body proto.Body, ok bool) {
	s := &m.Stand
	left := s.LeaseEnd.Sub(m.Now).Truncate(time.Microsecond)
	return proto.Heartbeat{
		Leader: m.Self, Nonce: s.Nonce, Remaining: left, Voters: m.VoterSet(), Lent: m.Lending(),
	}, left > 0
}

// heard follows a leader, and gives it this voter's promise anew.
func (m *Machine) heard(msg proto.Message, b proto.Heartbeat) {
	if msg.From != b.Leader.ID {
		m.Refuse("%d says that %d leads -> drop it", msg.From, b.Leader.ID)
		return
	}
	stood := m.Stand.Phase >= candidate
	m.follow(msg, b)
	// Who gives a term up in this very Step promises from the next heartbeat on: its
	// RELEASE leaves after its vote is saved.
	if m.Votes() && stood == (m.Stand.Phase >= candidate) {
		r := lease.Request{Session: b.Leader.Session, Nonce: b.Nonce, Voters: b.Voters}
		m.promised(msg, r, b.Lent)
	}
}

// follow takes over who leads: "If the leader's term (included in its RPC) is at least as
// large as the candidate's current term, then the candidate recognizes the leader as
// legitimate and returns to follower state."
func (m *Machine) follow(msg proto.Message, b proto.Heartbeat) {
	epoch := proto.Epoch{Term: msg.Term, Leader: b.Leader.ID, Session: b.Leader.Session}
	switch {
	case epoch.Compare(m.Seen) < 0, m.Stand.Phase >= candidate && msg.Term < m.Stand.Term:
		m.Why("HEARTBEAT of term %d is below term %d -> do not follow", msg.Term,
			max(m.Seen.Term, m.Stand.Term))
		return
	case m.Voter.Dead[msg.From] == b.Leader.Session,
		m.Voter.Over && msg.Term == m.State.Vote.Term && m.Bound(msg.From, b.Leader.Session):
		m.Why("%d is gone or released term %d -> do not follow", msg.From, msg.Term)
		return
	case m.Stale():
		m.Why("this process has just woken, and the HEARTBEAT of %d may be as old -> wait for the next", msg.From)
		return
	case m.Stand.Phase >= candidate:
		m.leave(msg.From.String() + " leads")
	}
	if epoch != m.Belief.Epoch() {
		m.Why("%d leads term %d -> follow it", msg.From, msg.Term)
	}
	if !m.Votes() { // a voter learns of it with its promise: a refusal changes nothing
		m.HearVoters(msg.From, b.Voters)
	}
	m.Seen, m.Known = epoch, max(m.Known, msg.Term)
	m.Belief = algorithms.Leader{
		ID: msg.From, Session: b.Leader.Session, Term: msg.Term,
		Until: m.Now.Add(min(b.Remaining, lease.Of(m.Cfg.Promise))),
	}
	if m.Stand.Phase == preCandidate {
		m.Stand.Stop()
	}
	m.Handing.Drop()
	m.Handing.Yield = time.Time{}
	m.reset()
}

// leave ends a candidacy, or the leadership: it leads no more from this Step on.
// RELEASE follows when Idle says that all its work has stopped.
func (m *Machine) leave(reason string) {
	s := &m.Stand
	switch s.Phase {
	case preCandidate:
		m.Handing.Drop()
		s.Stop()
	case candidate:
		m.giveUp(reason)
	case leader:
		m.Why("%s -> lead term %d no more", reason, s.Term)
		m.Leave()
		m.reset()
	case follower:
	}
}
