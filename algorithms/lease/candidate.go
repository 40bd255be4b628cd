package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// pursue takes the next step on this node's way to lead, if one is due: it asks the voters, asks again,
// requests votes, gives up or leads on.
func (m *Machine) pursue() {
	s := &m.candidacy
	switch {
	case !m.votes():
	case m.rejoin.active:
		if m.pursueRejoin() {
			m.readmitted()
			m.pursue()
		}
	case s.phase == idle && m.mayStand():
		m.ahead = !m.isTurn()
		m.ask()
	case s.phase == asking && m.ahead:
		m.pursueAhead()
	case s.phase == asking && !m.now.Before(s.due):
		m.ask()
	case s.phase == asking:
		m.countAnswers() // this voter may be free now
	case s.phase == claiming && !m.now.Before(s.due):
		m.giveUpClaim(whyNoVotes.Of())
	case s.phase == securing && !m.now.Before(s.leaseEnd):
		m.giveUpClaim(whyPromisesEnd.Of())
	case s.phase == securing:
		if m.beatDue() {
			m.beat()
		}
		m.haveFenced()
	case s.phase == leading:
		m.keepLeading()
	}
}

// mayStand reports whether this node may ask the voters: nobody leads as far as it knows, and this
// node's turn to stand has come, or may come in a moment.
func (m *Machine) mayStand() bool {
	s := &m.candidacy
	if !m.stands() || m.belief.ID != 0 || s.leaving != 0 || m.now.Before(m.retryAt) ||
		m.now.Before(m.handing.yield) {
		return false
	}
	return m.isTurn() || m.contends()
}

// isTurn reports whether this node's turn to request votes has come: it is the nominee or a chosen
// successor, or it has heard from no leader for long.
func (m *Machine) isTurn() bool {
	return m.nominated() || m.handing.chosen || m.watcher == nil && !m.now.Before(m.standAt())
}

func (m *Machine) nominated() bool { return m.nominee.ID == m.cfg.Self }

// standAt returns when this voter stands although it is not nominated.
func (m *Machine) standAt() time.Time {
	return m.heardAt.Add(standDelay(m.cfg.Promise, m.cfg.Delta, m.above))
}

// ask begins a round of PRE_VOTE: a node takes no term before a majority would vote for it in that term
// (Ongaro 2014, 9.6). A voter that said no says yes by itself once it can. So ask repeats the question
// only because messages may be lost, and ever more rarely. If no voter has voted in the nomination's
// term yet, this node asks for that term, so that nomination and election have one number.
func (m *Machine) ask() {
	s := &m.candidacy
	s.phase = asking
	s.asked++
	s.term = m.nextTerm()
	s.nonce++
	s.yes.Reset()
	if s.asked == 1 {
		m.why(whyAsk, m.cause(), s.term)
	}
	s.due = m.now.Add(m.pause(s.asked))
	m.tell(s.term, proto.PreVote(m.request()))
	m.countAnswers()
}

// nextTerm returns the term that this node would ask for now: the nomination's, if that is higher than all terms
// in which a voter voted, and credible to the voters.
func (m *Machine) nextTerm() proto.Term {
	next := m.known + 1
	if (m.nominated() || m.contends()) && m.nominee.Term <= m.credible() {
		next = max(next, m.nominee.Term)
	}
	return min(next, m.credible())
}

func (m *Machine) cause() algorithms.Reason {
	switch {
	case m.handing.chosen:
		return whyChosen.Of()
	case m.nominated() && m.watcher != nil:
		return m.watcher.Cause()
	case m.nominated():
		return WhyNominated.Of()
	case m.ahead:
		return whyMayBeNominated.Of()
	}
	return whyVacant.Of()
}

// answered counts an answer to this round's PRE_VOTE. If a no names a term that is not below the one
// asked for, answered begins a new round for a higher term.
func (m *Machine) answered(msg proto.Message, b proto.PreVoteReply) {
	s := &m.candidacy
	m.learn(msg)
	m.hearVoters(msg.From, b.Voters)
	if m.surveyed(msg, b) || s.phase != asking || b.Incarnation != m.cfg.Incarnation || b.Nonce != s.nonce {
		return
	}
	switch {
	case b.Granted():
		s.yes.Add(msg.From)
	case m.known >= s.term && m.nextTerm() > s.term:
		m.why(whyHigher, msg.From, m.known)
		m.ask()
		return
	default:
		m.noteRefusal(msg.From, b.Answer)
		s.yes.Remove(msg.From)
	}
	m.countAnswers()
}

// countAnswers requests votes once a majority would vote for this node and this node's turn has come.
func (m *Machine) countAnswers() {
	if m.wouldWin() && !m.ahead {
		m.claim()
	}
}

// claim votes for this node itself, and requests the votes of the others: "To begin an election, a
// follower increments its current term and transitions to candidate state. It then votes for itself and
// issues RequestVote RPCs in parallel to each of the other servers in the cluster." The lease will run
// from now, before any message is sent. The more candidacies in a row failed, the longer this candidacy
// waits for answers, since answers may take longer than planned.
func (m *Machine) claim() {
	s := &m.candidacy
	m.why(WhyCandidate, s.term)
	s.phase, s.noted = claiming, m.now
	s.nonce++
	s.due = m.now.Add(ClaimTimeout(m.cfg.Promise, m.cfg.Delta, s.Failed))
	m.countOwn()
	m.vote(s.term, m.cfg.Self, m.cfg.Incarnation)
	m.fencing = fencing{}
	m.fencing.heardOf(m.cfg.Self, m.state.Former.All())
	m.tell(s.term, proto.RequestVote(m.request()))
	m.countVotes()
}

// whyStaleVote is the reason when a VOTE of a term in which this node stood before arrives late.
var whyStaleVote = reasons.Kind("stale-vote", "VOTE of term %d is below term %d -> drop it", algorithms.Drops{})

// voted handles VOTE. Whichever round the VOTE answers, a voter that voted for this node no longer leads
// itself, and its VOTE names the former leaders that it has not seen to stop.
func (m *Machine) voted(msg proto.Message, b proto.Vote) {
	s := &m.candidacy
	if b.Granted() && msg.Term < s.term {
		m.why(whyStaleVote, msg.Term, s.term)
	}
	if b.Granted() && b.Incarnation == m.cfg.Incarnation && msg.Term == s.term &&
		(s.phase == claiming || s.phase == securing) {
		m.fencing.heardOf(msg.From, b.Former.All())
	}
	m.replied(msg, request{Incarnation: b.Incarnation, Nonce: b.Nonce, Voters: b.Voters}, b.Answer)
}

// replied counts a voter's promise for the round of questions that it answers, or its refusal.
func (m *Machine) replied(msg proto.Message, r request, answer proto.Answer) {
	switch {
	case !answer.Granted():
		if m.wasDenied(msg, r, answer) {
			m.giveUpClaim(whyTooMany.Of())
		}
	case m.granted(msg, r):
		m.countVotes()
	case m.grantedLate(msg, r) && m.leads():
		m.leadOn()
	}
}

// countVotes acts once a majority has promised: a candidate leads, or first has former leaders fenced;
// a leader leads on.
func (m *Machine) countVotes() {
	s := &m.candidacy
	if !m.extended() {
		return
	}
	s.Failed = 0
	switch s.phase {
	case claiming:
		s.due, s.next = time.Time{}, s.noted.Add(HeartbeatEvery(m.cfg.Promise))
		m.mayTake()
	case leading:
		m.leadOn()
	}
}

// take makes this node lead.
func (m *Machine) take() {
	m.fencing = fencing{}
	m.settle(m.candidacy.term)
	m.lead()
	m.hearLeader()
}

// giveUpClaim ends a candidacy that failed. The pause before the next one grows with each failure.
func (m *Machine) giveUpClaim(reason algorithms.Reason) {
	m.candidacy.Failed++
	m.giveUp(reason, m.pause(m.candidacy.Failed))
}

// giveUp ends a candidacy for which some voters may have voted, and releases its term: this node never
// requests votes in that term again. If a leader chose this node as its successor, that choice ends,
// too.
func (m *Machine) giveUp(reason algorithms.Reason, pause time.Duration) {
	m.why(whyGiveUp, reason, m.candidacy.term, pause.Round(time.Millisecond))
	m.candidacy.stop()
	m.handing.drop()
	m.fencing = fencing{}
	m.retryAt, m.news = m.now.Add(pause), News{Kind: Failed, Wait: pause}
	if m.backOff() {
		m.tellNomination(false)
	}
	m.release(m.candidacy.term)
}

var whyNotNominated = reasons.Kind("not-nominated",
	"this node is not to be nominated -> do not request votes of term %d")

// pursueAhead continues a round of PRE_VOTE that began before it was this node's turn. It requests votes
// when this node's turn comes, and stops asking when this node may no longer be nominated.
func (m *Machine) pursueAhead() {
	s := &m.candidacy
	m.ahead = !m.isTurn()
	switch {
	case m.ahead && !m.contends():
		m.why(whyNotNominated, s.term)
		s.stop()
	case s.term != m.nextTerm(), !m.now.Before(s.due):
		m.ask()
	default:
		m.countAnswers()
	}
}
