package raft

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// The phases of a stand, in the paper's words: "At any given time each server is in one of
// three states: leader, follower, or candidate."
const (
	follower     = lease.Idle
	preCandidate = lease.Asking   // PRE_VOTE sent: would a majority vote for it?
	candidate    = lease.Claiming // REQUEST_VOTE sent
	leader       = lease.Leading  // a majority voted
)

// pursue takes the next step of this node's own, if one is due.
func (m *Machine) pursue() {
	s := &m.Stand
	switch {
	case m.Rejoin.Active:
		if m.PursueRejoin() {
			m.readmitted()
			m.pursue()
		}
	case m.mayWait() && !m.Now.Before(m.standAt()):
		m.askFirst()
	case s.Phase == preCandidate && !m.Now.Before(s.Due):
		m.askFirst()
	case s.Phase == preCandidate:
		m.countAnswers() // this voter may be free now
	case s.Phase == candidate && !m.Now.Before(s.Due):
		m.giveUp("no majority voted for it in time")
	case s.Phase == leader:
		m.keepLeading()
	}
}

// askFirst begins a round of PRE_VOTE.
func (m *Machine) askFirst() {
	r := m.Ask(m.Known+1, m.timer.String())
	m.Tell(m.Stand.Term, proto.PreVote(r))
	m.countAnswers()
}

// answered counts an answer to this round's PRE_VOTE.
func (m *Machine) answered(msg proto.Message, b proto.PreVoteReply) {
	if m.Answered(msg, b) {
		m.askFirst()
		return
	}
	m.countAnswers()
}

// countAnswers requests the votes once a majority would give them.
func (m *Machine) countAnswers() {
	if m.WouldWin() {
		m.requestVotes()
	}
}

// requestVotes: "To begin an election, a follower increments its current term and
// transitions to candidate state. It then votes for itself and issues RequestVote RPCs
// in parallel to each of the other servers in the cluster."
func (m *Machine) requestVotes() {
	r := m.Claim()
	m.vote(m.Stand.Term, m.Cfg.Self, m.Cfg.Session)
	m.Tell(m.Stand.Term, proto.RequestVote(r))
	m.countVotes()
}

// replied counts a promise, for its own round of questions, or hears that a voter is bound
// elsewhere.
func (m *Machine) replied(msg proto.Message, r lease.Request, answer proto.Answer) {
	switch {
	case !answer.Granted():
		if m.WasDenied(msg, r, answer) {
			m.giveUp("too many voters are bound elsewhere")
		}
	case m.Granted(msg, r):
		m.countVotes()
	case m.GrantedLate(msg, r):
		m.lead()
		m.beats = int(m.Stand.Nonce - r.Nonce) // those after it are still to be answered
	}
}

// countVotes leads, or leads on, once a majority has promised.
func (m *Machine) countVotes() {
	if !m.Extended() {
		return
	}
	m.lead()
	if m.Stand.Phase == candidate {
		m.becomeLeader()
	}
}

// lead leads until the lease ends, and asks for the next, having given that up or not.
func (m *Machine) lead() {
	s := &m.Stand
	m.Belief = algorithms.Leader{ID: m.Cfg.Self, Session: m.Cfg.Session, Term: s.Term, Until: s.LeaseEnd}
	if m.beats = 0; s.Phase == leader && s.Next.IsZero() {
		s.Next = m.Now
	}
}

// giveUp returns what was promised, and never requests votes in that term again.
// "Each candidate restarts its randomized election timeout".
func (m *Machine) giveUp(reason string) {
	s := &m.Stand
	s.Failed++
	wait := m.Pause(s.Failed)
	m.GiveUp(reason, wait)
	m.pause(wait)
	m.TakeRecess()
	m.Release(s.Term)
}
