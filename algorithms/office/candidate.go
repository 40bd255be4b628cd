package office

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// The phases of a stand, in the office's words.
const (
	idle     = lease.Idle
	asking   = lease.Asking   // PRE_VOTE sent: would a majority grant?
	claiming = lease.Claiming // REQUEST_VOTE sent
	fence    = lease.Fencing  // a majority granted, former holders are seen to
	holding  = lease.Leading  // a majority granted, and nobody else can work
)

// pursue takes the next step of this node's own, if one is due.
func (m *Machine) pursue() {
	s := &m.Stand
	switch {
	case !m.Votes():
	case m.Rejoin.Active:
		if m.PursueRejoin() {
			m.readmitted()
			m.pursue()
		}
	case s.Phase == idle && m.mayStand():
		m.ahead = !m.isTurn()
		m.ask()
	case s.Phase == asking && m.ahead:
		m.pursueAhead()
	case s.Phase == asking && !m.Now.Before(s.Due):
		m.ask()
	case s.Phase == asking:
		m.countAnswers() // this voter may be free now
	case s.Phase == claiming && !m.Now.Before(s.Due):
		m.giveUpClaim("no majority granted it in time")
	case s.Phase == fence && !m.Now.Before(s.LeaseEnd):
		m.giveUpClaim("the promises were not renewed")
	case s.Phase == fence:
		if !m.Now.Before(s.Next) {
			m.renew()
		}
		m.haveFenced()
	case s.Phase == holding:
		m.keepOffice()
	}
}

// mayStand reports whether this node may ask: nobody holds the office as far as it
// knows, and it is its turn, or may be in a moment.
func (m *Machine) mayStand() bool {
	s := &m.Stand
	if !m.Stands() || m.Belief.ID != 0 || s.Leaving != 0 || m.Now.Before(m.retryAt) ||
		m.Now.Before(m.Handing.Yield) {
		return false
	}
	return m.isTurn() || m.contends()
}

// isTurn reports whether this node may claim: it is the nominee, or nothing was heard
// for long.
func (m *Machine) isTurn() bool {
	return m.nominated() || m.Handing.Chosen || !m.Now.Before(m.standAt())
}

func (m *Machine) nominated() bool { return m.nominee.ID == m.Cfg.Self }

// standAt is when this voter stands without being nominated.
func (m *Machine) standAt() time.Time {
	return m.heard.Add(standDelay(m.Cfg.Promise, m.Cfg.Delta, m.above))
}

// ask begins a round of PRE_VOTE. A term of the nomination that no voter has voted in
// yet is taken as it is, so that one round has one number.
func (m *Machine) ask() {
	r := m.Ask(m.nextTerm(), m.cause())
	m.Tell(m.Stand.Term, proto.PreVote(r))
	m.countAnswers()
}

// nextTerm is the term that this node would ask for now.
func (m *Machine) nextTerm() proto.Term {
	if m.nominated() || m.contends() {
		return max(m.Known+1, m.nominee.Term)
	}
	return m.Known + 1
}

func (m *Machine) cause() string {
	if m.Handing.Chosen {
		return "this node was chosen and nobody holds the office"
	}
	if m.nominated() {
		return "this node is nominated and nobody holds the office"
	}
	if m.ahead {
		return "this node may be nominated and nobody holds the office"
	}
	return "no office was heard of for long"
}

// answered counts an answer to this round's PRE_VOTE.
func (m *Machine) answered(msg proto.Message, b proto.PreVoteReply) {
	if m.Answered(msg, b) {
		m.ask()
		return
	}
	m.countAnswers()
}

// countAnswers claims the term, in this node's turn, once a majority would grant it.
func (m *Machine) countAnswers() {
	if m.WouldWin() && !m.ahead {
		m.claim()
	}
}

// claim votes for this node itself, and asks the others to.
func (m *Machine) claim() {
	r := m.Claim()
	m.vote(m.Stand.Term, m.Cfg.Self, m.Cfg.Session)
	m.fencing = fencing{}
	m.fencing.heardOf(m.Cfg.Self, m.State.Former.All())
	m.Tell(m.Stand.Term, proto.RequestVote(r))
	m.countGrants()
}

// voted takes the answer of a voter. Whatever its round, who voted for this node has stopped,
// and names whom it did not see to stop.
func (m *Machine) voted(msg proto.Message, b proto.Vote) {
	s := &m.Stand
	if b.Granted() && b.Session == m.Cfg.Session && msg.Term == s.Term && (s.Phase == claiming || s.Phase == fence) {
		m.fencing.heardOf(msg.From, b.Former.All())
	}
	m.replied(msg, lease.Request{Session: b.Session, Nonce: b.Nonce, Voters: b.Voters}, b.Answer)
}

// replied counts a promise, for its own round of questions, or hears that a voter is bound
// elsewhere.
func (m *Machine) replied(msg proto.Message, r lease.Request, answer proto.Answer) {
	switch {
	case !answer.Granted():
		if m.WasDenied(msg, r, answer) {
			m.giveUpClaim("too many voters are bound elsewhere")
		}
	case m.Granted(msg, r):
		m.countGrants()
	case m.GrantedLate(msg, r) && m.holds():
		m.lead()
	}
}

// countGrants takes or keeps the office, or the right to it, once a majority has
// promised.
func (m *Machine) countGrants() {
	s := &m.Stand
	if !m.Extended() {
		return
	}
	s.Failed = 0
	s.Next = s.Noted.Add(RenewEvery(m.Cfg.Promise))
	switch s.Phase {
	case claiming:
		s.Due = time.Time{}
		m.mayTake()
	case holding:
		m.lead()
	}
}

// take takes the office.
func (m *Machine) take() {
	m.Stand.Phase, m.Stand.Taken = holding, m.Now
	m.fencing = fencing{}
	m.settle(m.Stand.Term)
	m.lead()
}

// lead leads until the lease ends, and says so.
func (m *Machine) lead() {
	m.Belief = algorithms.Leader{
		ID: m.Cfg.Self, Session: m.Cfg.Session, Term: m.Stand.Term, Until: m.Stand.LeaseEnd,
	}
	m.Seen = m.Belief.Epoch()
	m.announce(m.Alive...)
}

// giveUpClaim gives up and tries again soon, and ever more rarely.
func (m *Machine) giveUpClaim(reason string) {
	m.Stand.Failed++
	m.giveUp(reason, m.Pause(m.Stand.Failed))
}

// giveUp returns what was promised.
func (m *Machine) giveUp(reason string, pause time.Duration) {
	m.GiveUp(reason, pause)
	m.fencing = fencing{}
	m.retryAt = m.Now.Add(pause)
	if m.TakeRecess() {
		m.tellNomination(false)
	}
	m.Release(m.Stand.Term)
}
