package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// role is what this node is: "At any given time each server is in one of three states:
// leader, follower, or candidate."
type role int

const (
	follower     role = iota
	preCandidate      // PRE_VOTE sent: would a majority vote for it?
	candidate         // REQUEST_VOTE sent
	leader            // a majority voted
)

// stand is this node's own candidacy, or its leadership.
type stand struct {
	role   role
	term   proto.Term // asked for, requested or led
	nonce  uint64     // of the last round of questions
	noted  time.Time  // when that round began, before its first message left
	yes    quorum.Count
	denied quorum.Count             // of a candidate
	asked  int                      // rounds of PRE_VOTE in this candidacy
	no     map[proto.NodeID]refusal // as last recorded, in this candidacy
	due    time.Time                // preCandidate, candidate: when the answers should be here
	failed int                      // candidacies in a row

	taken    time.Time // when it began to lead
	leaseEnd time.Time
	beatAt   time.Time  // when the next heartbeat is due
	beats    int        // rounds of them since a majority answered one
	leaving  proto.Term // led once, and its work has not stopped yet
}

// stop makes a follower of a node that has bound nobody.
func (s *stand) stop() {
	s.role, s.asked, s.due = follower, 0, time.Time{}
	s.leaseEnd, s.beatAt = time.Time{}, time.Time{}
	clear(s.no)
}

// pursue takes the next step of this node's own, if one is due.
func (m *Machine) pursue() {
	s := &m.stand
	switch {
	case m.rejoin.active:
		m.pursueRejoin()
	case m.mayWait() && !m.now.Before(m.standAt()):
		m.askFirst()
	case s.role == preCandidate && !m.now.Before(s.due):
		m.askFirst()
	case s.role == preCandidate:
		m.countAnswers() // this voter may be free now
	case s.role == candidate && !m.now.Before(s.due):
		m.giveUp("no majority voted for it in time")
	case s.role == leader:
		m.keepLeading()
	}
}

// askFirst begins a round of PRE_VOTE: no term is taken before a majority would vote in
// it (Ongaro 2014, 9.6). Who said no says yes unasked, once it can: asking again is for
// what was lost, and grows rare.
func (m *Machine) askFirst() {
	s := &m.stand
	s.role = preCandidate
	s.asked++
	s.term = m.known + 1
	s.nonce++
	s.yes.Reset()
	if s.asked == 1 {
		m.why("%s -> ask the voters for term %d", &m.timer, s.term)
	}
	s.due = m.now.Add(m.jitter(backOff(m.cfg.Promise, m.cfg.Delta, s.asked)))
	m.tell(s.term, proto.PreVote{Session: m.cfg.Session, Nonce: s.nonce})
	m.countAnswers()
}

// answered counts an answer to this round's PRE_VOTE.
func (m *Machine) answered(msg proto.Message, b proto.Answer) {
	s := &m.stand
	m.learn(msg)
	m.meet(msg.From, msg.Term)
	if s.role != preCandidate || b.Session != m.cfg.Session || b.Nonce != s.nonce {
		return
	}
	switch {
	case b.Yes:
		s.yes.Add(msg.From)
	case m.known >= s.term:
		m.why("%d knows of term %d -> ask for a higher one", msg.From, m.known)
		m.askFirst()
		return
	default:
		m.noteRefusal(msg.From, refusal{b.Bar, b.Holder})
		s.yes.Remove(msg.From)
	}
	m.countAnswers()
}

// noteRefusal records a no that differs from the last one.
func (m *Machine) noteRefusal(from proto.NodeID, r refusal) {
	if m.stand.no[from] == r {
		return
	}
	m.stand.no[from] = r
	m.why("%d says %s", from, r)
}

// countAnswers requests the votes once a majority would give them, this voter among
// them.
func (m *Machine) countAnswers() {
	s := &m.stand
	if no := m.wouldVote(s.term); no.bar == proto.NoBar {
		s.yes.Add(m.cfg.Self)
	} else {
		s.yes.Remove(m.cfg.Self)
	}
	if s.yes.Of(m.voters) && s.yes.Has(m.cfg.Self) {
		m.requestVotes()
	}
}

// learn remembers the highest term that a voter is known to have voted in. It is a
// hint for the next candidacy and adopted for nothing else.
func (m *Machine) learn(msg proto.Message) {
	if msg.Term > m.known+maxTermJump {
		m.refuse("term %d is absurdly far above %d -> do not believe it", msg.Term, m.known)
		return
	}
	m.known = max(m.known, msg.Term)
}

// requestVotes: "To begin an election, a follower increments its current term and
// transitions to candidate state. It then votes for itself and issues RequestVote RPCs
// in parallel to each of the other servers in the cluster." The lease will count from
// now, before anything has left.
func (m *Machine) requestVotes() {
	s := &m.stand
	m.why("a majority would grant term %d -> become candidate", s.term)
	s.role, s.noted = candidate, m.now
	s.nonce++
	s.due = m.now.Add(2 * answerTimeout(m.cfg.Delta))
	s.yes.Reset()
	s.denied.Reset()
	s.yes.Add(m.cfg.Self)
	m.vote(s.term, m.cfg.Self, m.cfg.Session)
	m.tell(s.term, proto.RequestVote{Session: m.cfg.Session, Nonce: s.nonce})
	m.countVotes()
}

// granted counts a VOTE or a HEARTBEAT_ACK of this very round of questions.
func (m *Machine) granted(msg proto.Message, r request) {
	s := &m.stand
	if r.Session != m.cfg.Session || r.Nonce != s.nonce || msg.Term != s.term || s.role < candidate {
		return
	}
	m.meet(msg.From, msg.Term)
	s.yes.Add(msg.From)
	m.countVotes()
}

// countVotes leads, or leads on, once a majority has promised, if the lease that they
// stand for has not ended. "A candidate wins an election if it receives votes from a
// majority of the servers in the full cluster for the same term."
func (m *Machine) countVotes() {
	s := &m.stand
	end := s.noted.Add(office.LeaseOf(m.cfg.Promise))
	if !s.yes.Of(m.voters) || !m.now.Before(end) || !end.After(s.leaseEnd) {
		return
	}
	s.leaseEnd, s.beats = end, 0
	m.belief = algorithms.Leader{ID: m.cfg.Self, Session: m.cfg.Session, Term: s.term, Until: end}
	if s.role == candidate {
		m.becomeLeader()
	}
}

// denied hears that a voter is bound elsewhere. In a split vote nobody waits for the
// end of it who cannot win any more.
func (m *Machine) denied(msg proto.Message, b proto.Deny) {
	s := &m.stand
	m.learn(msg)
	m.meet(msg.From, msg.Term)
	if b.Session != m.cfg.Session || b.Nonce != s.nonce || s.role < candidate {
		return
	}
	m.why("%d denies term %d: %s", msg.From, s.term, refusal{b.Bar, b.Holder})
	s.denied.Add(msg.From)
	if s.role == candidate && len(m.voters)-s.denied.Len() < m.voters.Majority() {
		m.giveUp("too many voters are bound elsewhere")
	}
}

// giveUp returns what was promised, and never requests votes in that term again.
// "Each candidate restarts its randomized election timeout".
func (m *Machine) giveUp(reason string) {
	s := &m.stand
	s.failed++
	wait := m.jitter(backOff(m.cfg.Promise, m.cfg.Delta, s.failed))
	m.why("%s -> release term %d, wait %v", reason, s.term, wait.Round(time.Millisecond))
	s.stop()
	m.handing.chosen, m.handing.stays = false, false
	m.pause(wait)
	if s.failed >= failuresToRecess {
		m.takeRecess()
	}
	m.release(s.term)
}

// jitter spreads t evenly over [t, 2t).
func (m *Machine) jitter(t time.Duration) time.Duration { return t + m.random(t) }

// random is evenly drawn from [0, t).
func (m *Machine) random(t time.Duration) time.Duration {
	return time.Duration(m.dice.Int64N(int64(t)))
}
