package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// phase says how far this node has come on its way to lead.
type phase int

// The phases of a candidacy. Each algorithm has its own names for these phases.
const (
	idle     phase = iota
	asking         // it asks whether a majority would vote for it
	claiming       // it voted for itself, and requests the votes of the others
	securing       // a majority voted for it, and it has former leaders fenced
	leading
)

// candidacy is this node's own candidacy, or its leadership.
type candidacy struct {
	phase  phase
	term   proto.Term // asked for, claimed or led
	nonce  uint64     // of the last round of questions
	noted  time.Time  // when that round began, before its first message left
	yes    quorum.Count
	same   quorum.Count                  // the voters in yes that have this node's list of voters
	denied quorum.Count                  // who said no in the last round of REQUEST_VOTE or HEARTBEAT
	late   quorum.Rounds                 // the rounds before the last, whose answers still count
	won    uint64                        // the latest round that a majority answered
	asked  int                           // rounds of questions before a claim, in this candidacy
	no     map[proto.NodeID]proto.Answer // the last no of each voter that was recorded
	due    time.Time                     // in the phases asking and claiming: when the answers should be here
	Failed int                           // candidacies in a row, with back-offs or without

	taken    time.Time // when it began to lead
	leaseEnd time.Time
	next     time.Time  // when the next round of questions of a leader is due
	leaving  proto.Term // the term that this node no longer leads, while its work has not stopped yet
	lend     lending
	boots    map[proto.NodeID]time.Time // when each voter that has just started may vote for another
}

// stop forgets a candidacy, or a leadership. It sends no RELEASE.
func (s *candidacy) stop() {
	s.phase, s.asked, s.due = idle, 0, time.Time{}
	s.leaseEnd, s.next = time.Time{}, time.Time{}
	s.late.Reset()
	clear(s.no)
}

// The reasons why a node asks the voters.
var (
	whyVacant = reasons.Kind("vacant", "no leader was heard of for long",
		algorithms.Caused(algorithms.Vacant), algorithms.Waited{})
	WhyNominated = reasons.Kind("nominated", "this node is nominated and nobody leads",
		algorithms.Caused(algorithms.Vacant))
	whyMayBeNominated = reasons.Kind("may-be-nominated", "this node may be nominated and nobody leads",
		algorithms.Caused(algorithms.Vacant), algorithms.Ahead{})
	whyChosen = reasons.Kind("chosen", "this node was chosen and nobody leads",
		algorithms.Caused(algorithms.Vacant))
	whyAsk = reasons.Kind("ask", "%s -> ask the voters for term %d",
		algorithms.Stands{Cause: 0, Term: 1})
)

// request returns the part that all messages of the present round of questions have in common.
func (m *Machine) request() request {
	return request{m.cfg.Incarnation, m.candidacy.nonce, m.voterSet()}
}

var (
	whyHigher = reasons.Kind("higher", "%d knows of term %d -> ask for a higher one")
	whySays   = refusalsOf("says", "%d says ", algorithms.Answers{
		Voter: 0, Candidate: algorithms.Self, Term: algorithms.Nobody,
	}, 1)
)

// noteRefusal records that a voter said no, unless the voter gave the same answer before.
func (m *Machine) noteRefusal(from proto.NodeID, r proto.Answer) {
	if m.candidacy.no[from] == r {
		return
	}
	m.candidacy.no[from] = r
	m.say(whySays.of(r, from))
}

// wouldWin reports whether a majority would vote for this node. It asks this node's own voter again.
// While that voter may not vote yet after its start, a majority of the others must say yes.
func (m *Machine) wouldWin() bool {
	s := &m.candidacy
	if s.phase != asking || m.rejoin.active {
		return false
	}
	own, _, _ := m.judge(m.own(s.term))
	if own.Granted() {
		s.yes.Add(m.cfg.Self)
	} else {
		s.yes.Remove(m.cfg.Self)
	}
	return m.enough(&s.yes) && (own.Granted() || own.Denial == proto.DeniedStarted)
}

// countOwn empties the counts of a round and counts this node's own promise. It does not count that
// promise while a promise of this node's former life may still run: then other voters alone must make up
// the majority. Any majority that the former promise belonged to shares a voter with them, and that
// voter promises again only when its old promise no longer binds it.
func (m *Machine) countOwn() {
	s := &m.candidacy
	s.yes.Reset()
	s.same.Reset()
	s.denied.Reset()
	if !m.now.Before(m.voter.boot) {
		s.yes.Add(m.cfg.Self)
		s.same.Add(m.cfg.Self)
	}
}

var whyAbsurdHint = reasons.Kind("absurd-hint",
	"term %d is absurdly far above %d -> do not believe it, ask the voters")

// learn remembers the highest term in which a voter is known to have voted. Only this node's next
// candidacy uses that term.
func (m *Machine) learn(msg proto.Message) {
	if msg.Term > m.credible() {
		m.refuse(whyAbsurdHint, msg.Term, m.known)
		m.askTerms()
		return
	}
	m.known = max(m.known, msg.Term)
}

// WhyCandidate is the reason why a node requests votes.
var WhyCandidate = reasons.Kind("candidate", "a majority would vote for this node in term %d -> become candidate",
	algorithms.Stands{Cause: algorithms.Self, Term: 0},
	algorithms.Caused(algorithms.Vacant)).
	Follows(asksFirst)

// beginRound begins the next round of questions of a leader, or of a candidate that has former
// leaders fenced. This node's own voter renews its promise.
func (m *Machine) beginRound() {
	s := &m.candidacy
	if !m.enough(&s.yes) {
		s.late.Keep(s.nonce, s.noted, s.yes)
	}
	s.nonce++
	s.noted = m.now
	s.next = m.now.Add(m.every)
	m.countOwn()
	if s.lend.wanted && s.lend.from == 0 {
		s.lend.from = s.nonce
	}
	m.renewed(m.lending())
}

// granted counts the promise of a voter if the promise answers the present round of questions. It
// reports whether it does.
func (m *Machine) granted(msg proto.Message, r request) bool {
	s := &m.candidacy
	if r.Incarnation != m.cfg.Incarnation || r.Nonce != s.nonce || msg.Term != s.term || s.phase < claiming {
		return false
	}
	s.yes.Add(msg.From)
	if r.Voters.Is(m.voterSet()) {
		s.same.Add(msg.From)
	}
	m.commit()
	return true
}

// grantedLate counts the promise of a voter for an earlier round of questions, of a leader or of a
// candidate that has former leaders fenced. It reports whether a majority has now promised in that round
// and the lease therefore ends later.
func (m *Machine) grantedLate(msg proto.Message, r request) bool {
	s := &m.candidacy
	if r.Incarnation != m.cfg.Incarnation || msg.Term != s.term || s.phase < securing {
		return false
	}
	noted, ok := s.late.Add(r.Nonce, msg.From, m.enough)
	if ok {
		s.won = max(s.won, r.Nonce)
	}
	return ok && m.extend(r.Nonce, noted)
}

// extended extends the lease if a majority has promised in this round of questions, and reports whether
// it extended the lease. "A candidate wins an election if it receives votes from a majority of the
// servers in the full cluster for the same term."
func (m *Machine) extended() bool {
	s := &m.candidacy
	m.commit() // with one voter nobody else is asked
	if !m.enough(&s.yes) {
		return false
	}
	s.won = s.nonce
	return m.extend(s.nonce, s.noted)
}

// unanswered returns how many rounds a leader has begun since the last round that a majority answered.
func (m *Machine) unanswered() int { return int(m.candidacy.nonce - m.candidacy.won) }

// extend lets the lease run from the time noted, at which a round began that a majority answered. It
// reports whether the lease now ends later. If a lease from that time would have ended already, extend
// changes nothing.
func (m *Machine) extend(nonce uint64, noted time.Time) bool {
	s := &m.candidacy
	end := noted.Add(Of(m.cfg.Promise))
	if !m.now.Before(end) || !end.After(s.leaseEnd) {
		return false
	}
	s.leaseEnd = end
	m.lent(nonce, end)
	return true
}

// wasDenied counts a voter that said no to REQUEST_VOTE or HEARTBEAT. It reports whether this node's
// candidacy can no longer win: then, in a split vote, the candidate need not wait for the time-out.
func (m *Machine) wasDenied(msg proto.Message, r request, no proto.Answer) (lost bool) {
	s := &m.candidacy
	m.learn(msg)
	if r.Incarnation != m.cfg.Incarnation || r.Nonce != s.nonce || s.phase < claiming {
		return false
	}
	m.say(whySays.of(no, msg.From))
	s.denied.Add(msg.From)
	return s.phase == claiming && !m.couldWin()
}

// couldWin reports whether the voters that have not said no in this round of questions would be a
// majority. This node's own voter does not count if the round began while a promise of its former life
// might run.
func (m *Machine) couldWin() bool {
	var could quorum.Count
	for _, id := range m.list.union {
		if !m.candidacy.denied.Has(id) && (id != m.cfg.Self || m.candidacy.yes.Has(id)) {
			could.Add(id)
		}
	}
	return m.enough(&could)
}

// The reasons why a candidacy or a leadership ends.
var (
	whyNoVotes   = reasons.Kind("no-votes", "no majority voted for this node in time")
	whyTooMany   = reasons.Kind("too-many", "too many voters are bound elsewhere")
	whyTakesOver = reasons.Kind("takes-over", "%d would take over",
		algorithms.Because{Kind: algorithms.HandOver, About: algorithms.Self})
	whyLeads  = reasons.Kind("leads", "%d leads")
	whyResign = reasons.Kind("resign", "asked to resign",
		algorithms.Because{Kind: algorithms.HandOver, About: algorithms.Self})
	whyIneligible = reasons.Kind("ineligible", "not eligible: %s")
	whyRanOut     = reasons.Kind("ran-out", "the lease ran out", algorithms.LeaseEnds{})
	// whyRanOutLate is the reason when this process slept, or got no processor, as the lease ran out.
	whyRanOutLate = reasons.Kind("ran-out-late", "the lease ran out at least %d ms ago, while this process did not run",
		algorithms.LeaseEnds{Late: true})
	// whyRanOutUnseen is the reason when the host noticed the end of the lease before this Machine did.
	whyRanOutUnseen = reasons.Kind("ran-out-unseen", "the lease ran out before it was renewed", algorithms.LeaseEnds{})

	whyGiveUp = reasons.Kind("give-up", "%s -> release term %d, wait %v")
)

// pause returns how long to wait after the n-th attempt in a row that failed.
func (m *Machine) pause(n int) time.Duration { return m.jitter(Pause(m.every, m.cfg.Delta, n)) }

// bootLeft returns how long this voter, which has just started, still votes for no other.
func (m *Machine) bootLeft() time.Duration {
	end := m.voter.boot
	if m.rejoin.active {
		end = m.rejoin.began.Add(BootWait(m.rejoin.promise))
	}
	return max(end.Sub(m.now).Truncate(time.Microsecond), 0)
}

// noteWait notes how long a voter that has just started votes for no other.
func (m *Machine) noteWait(from proto.NodeID, b proto.HeartbeatReply) {
	delete(m.candidacy.boots, from)
	if b.Wait > 0 && b.Incarnation == m.cfg.Incarnation && m.list.union.Has(from) {
		m.candidacy.boots[from] = m.now.Add(b.Wait)
	}
}

// declined returns why a successor does not take over. If the voters that have not just started are no majority, the
// starts of the others are the reason that it has none.
func (m *Machine) declined(no proto.Decline) algorithms.Refusal {
	var started []proto.NodeID
	var longest time.Duration
	var rest quorum.Count
	for _, id := range m.list.union {
		left := m.candidacy.boots[id].Sub(m.now)
		if id == m.cfg.Self {
			left = m.bootLeft()
		}
		if left > 0 {
			started, longest = append(started, id), max(longest, left)
		} else {
			rest.Add(id)
		}
	}
	refusing := m.refusing(m.handing.to.ID)
	if no == proto.DeclineMajority && !m.enough(&rest) {
		return refusing.Started(started, longest)
	}
	return refusing.Declined(no)
}
