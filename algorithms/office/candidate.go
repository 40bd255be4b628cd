package office

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// phase is how far this node's own way to the office went.
type phase int

const (
	idle     phase = iota
	asking         // ASK sent: would a majority grant?
	claiming       // CLAIM sent
	fence          // a majority granted, former holders are seen to
	holding        // a majority granted, and nobody else can work
)

// stand is this node's own candidacy, or its office.
type stand struct {
	phase   phase
	term    proto.Term // asked for, claimed or held
	nonce   uint64     // of the last round of questions
	noted   time.Time  // when that round began, before its first message left
	yes     quorum.Count
	asked   int                      // rounds of ASK in this candidacy
	no      map[proto.NodeID]refusal // as last recorded, in this candidacy
	due     time.Time                // asking, claiming: when the answers should be here
	failed  int                      // claims in a row
	retryAt time.Time                // not to be asked before

	taken     time.Time // when the office was taken
	leaseEnd  time.Time
	renewAt   time.Time
	leaving   proto.Term // of the office whose work has not stopped yet
	preferred time.Time  // since when the nominee is whom it is
	fencing   fencing
}

// stop ends a candidacy that has bound nobody.
func (s *stand) stop() {
	s.phase, s.asked, s.due = idle, 0, time.Time{}
	s.leaseEnd, s.renewAt, s.fencing = time.Time{}, time.Time{}, fencing{}
	clear(s.no)
}

// pursue takes the next step of this node's own, if one is due.
func (m *Machine) pursue() {
	s := &m.stand
	switch {
	case !m.votes():
	case m.rejoin.active:
		m.pursueRejoin()
	case s.phase == idle && m.mayStand():
		m.ask()
	case s.phase == asking && !m.now.Before(s.due):
		m.ask()
	case s.phase == asking:
		m.countAnswers() // this voter may be free now
	case s.phase == claiming && !m.now.Before(s.due):
		m.giveUpClaim("no majority granted it in time")
	case s.phase == fence && !m.now.Before(s.leaseEnd):
		m.giveUpClaim("the promises were not renewed")
	case s.phase == fence:
		if !m.now.Before(s.renewAt) {
			m.renew()
		}
		m.haveFenced()
	case s.phase == holding:
		m.keepOffice()
	}
}

// mayStand reports whether it is this node's turn: nobody holds the office as
// far as it knows, and it is the nominee, or nothing was heard for long.
func (m *Machine) mayStand() bool {
	s := &m.stand
	if !m.stands() || m.belief.ID != 0 || s.leaving != 0 || m.now.Before(s.retryAt) ||
		m.now.Before(m.handing.yield) {
		return false
	}
	return m.nominated() || m.handing.chosen || !m.now.Before(m.standAt())
}

func (m *Machine) nominated() bool { return m.nominee.ID == m.cfg.Self }

// standAt is when this voter stands without being nominated.
func (m *Machine) standAt() time.Time {
	return m.heard.Add(standDelay(m.cfg.Promise, m.cfg.Delta, m.above()))
}

// ask begins a round of ASK. A term of the nomination that no voter has voted in
// yet is taken as it is, so that one round has one number. Who said no says yes
// unasked, once it can: asking again is for what was lost, and grows rare.
func (m *Machine) ask() {
	s := &m.stand
	s.phase = asking
	s.asked++
	s.term = m.nextTerm()
	s.nonce++
	s.yes.Reset()
	if no := m.wouldGrant(s.term); no.bar == proto.NoBar {
		s.yes.Add(m.cfg.Self)
	}
	if s.asked == 1 {
		m.why("%s -> ask the voters for term %d", m.cause(), s.term)
	}
	s.due = m.now.Add(m.jitter(tryAgain(m.cfg.Promise, m.cfg.Delta, s.asked)))
	m.tell(s.term, proto.Ask{Session: m.cfg.Session, Nonce: s.nonce})
	m.countAnswers()
}

// nextTerm is the term that this node would ask for now.
func (m *Machine) nextTerm() proto.Term {
	if m.nominated() {
		return max(m.known+1, m.nominee.Term)
	}
	return m.known + 1
}

func (m *Machine) cause() string {
	if m.handing.chosen {
		return "this node was chosen and nobody holds the office"
	}
	if m.nominated() {
		return "this node is nominated and nobody holds the office"
	}
	return "no office was heard of for long"
}

// answered counts an answer to this round's ASK.
func (m *Machine) answered(msg proto.Message, b proto.Answer) {
	s := &m.stand
	m.learn(msg)
	m.meet(msg.From, msg.Term)
	if s.phase != asking || b.Session != m.cfg.Session || b.Nonce != s.nonce {
		return
	}
	switch {
	case b.Yes:
		s.yes.Add(msg.From)
	case m.known >= s.term:
		m.why("%d knows of term %d -> ask for a higher one", msg.From, m.known)
		m.ask()
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

// countAnswers claims the term once a majority would grant it, this voter among
// them or not yet.
func (m *Machine) countAnswers() {
	s := &m.stand
	if no := m.wouldGrant(s.term); no.bar == proto.NoBar {
		s.yes.Add(m.cfg.Self)
	} else {
		s.yes.Remove(m.cfg.Self)
	}
	if s.yes.Of(m.voters) && s.yes.Has(m.cfg.Self) {
		m.claim()
	}
}

// learn remembers the highest term that a voter is known to have voted in. It is
// a hint for the next claim and adopted for nothing else.
func (m *Machine) learn(msg proto.Message) {
	if msg.Term > m.known+maxTermJump {
		m.refuse("term %d is absurdly far above %d -> do not believe it", msg.Term, m.known)
		return
	}
	m.known = max(m.known, msg.Term)
}

// claim votes for this node itself, and asks the others to. The lease will count
// from now, before anything has left.
func (m *Machine) claim() {
	s := &m.stand
	m.why("a majority would grant term %d -> claim it", s.term)
	s.phase, s.noted = claiming, m.now
	s.nonce++
	s.due = m.now.Add(2 * answerTimeout(m.cfg.Delta))
	s.yes.Reset()
	s.yes.Add(m.cfg.Self)
	m.vote(s.term, m.cfg.Self, m.cfg.Session)
	s.fencing = fencing{}
	s.fencing.heardOf(m.cfg.Self, m.state.Former.All())
	m.tell(s.term, proto.Claim{Session: m.cfg.Session, Nonce: s.nonce})
	m.countGrants()
}

// granted counts a grant of this very round of questions.
func (m *Machine) granted(msg proto.Message, b proto.Grant) {
	s := &m.stand
	if b.Session != m.cfg.Session || b.Nonce != s.nonce || msg.Term != s.term ||
		s.phase != claiming && s.phase != fence && s.phase != holding {
		return
	}
	m.meet(msg.From, msg.Term)
	s.yes.Add(msg.From)
	s.fencing.heardOf(msg.From, b.Former.All())
	m.countGrants()
}

// countGrants takes or keeps the office, or the right to it, once a majority has
// promised, if the lease that they stand for has not ended.
func (m *Machine) countGrants() {
	s := &m.stand
	end := s.noted.Add(LeaseOf(m.cfg.Promise))
	if !s.yes.Of(m.voters) || !m.now.Before(end) || !end.After(s.leaseEnd) {
		return
	}
	s.failed, s.leaseEnd = 0, end
	s.renewAt = s.noted.Add(RenewEvery(m.cfg.Promise))
	switch s.phase {
	case claiming:
		s.due = time.Time{}
		m.mayTake()
	case holding:
		m.lead()
	}
}

// take takes the office.
func (m *Machine) take() {
	m.stand.phase, m.stand.taken = holding, m.now
	m.stand.fencing = fencing{}
	m.settle(m.stand.term)
	m.lead()
}

// lead leads until the lease ends, and says so.
func (m *Machine) lead() {
	m.belief = algorithms.Leader{
		ID: m.cfg.Self, Session: m.cfg.Session, Term: m.stand.term, Until: m.stand.leaseEnd,
	}
	m.seen = m.belief.Epoch()
	m.announce(m.alive...)
}

// denied hears that a voter is bound elsewhere.
func (m *Machine) denied(msg proto.Message, b proto.Deny) {
	s := &m.stand
	m.learn(msg)
	m.meet(msg.From, msg.Term)
	if b.Session != m.cfg.Session || b.Nonce != s.nonce ||
		s.phase != claiming && s.phase != fence && s.phase != holding {
		return
	}
	m.why("%d denies term %d: %s", msg.From, s.term, refusal{b.Bar, b.Holder})
}

// giveUpClaim gives up and tries again soon, and ever more rarely.
func (m *Machine) giveUpClaim(reason string) {
	m.stand.failed++
	m.giveUp(reason, m.jitter(tryAgain(m.cfg.Promise, m.cfg.Delta, m.stand.failed)))
}

// giveUp returns what was promised, and never claims that term again.
func (m *Machine) giveUp(reason string, pause time.Duration) {
	s := &m.stand
	m.why("%s -> release term %d, wait %v", reason, s.term, pause.Round(time.Millisecond))
	s.stop()
	m.handing.chosen, m.handing.stays = false, false
	s.retryAt = m.now.Add(pause)
	if s.failed >= failuresToRecess {
		m.takeRecess()
	}
	m.release(s.term)
}

// jitter spreads t evenly over [t, 2t).
func (m *Machine) jitter(t time.Duration) time.Duration {
	return t + time.Duration(m.random.Int64N(int64(t)))
}
