package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	// WhyLead is the reason why a candidate leads.
	WhyLead = reasons.Kind("lead", "a majority voted in term %d -> lead",
		algorithms.Wins{Cause: algorithms.Self, Term: 0}, algorithms.Leads{Term: 0}).
		Follows(onceAMajority)
	// whyStepDown is the reason why a leader no longer leads.
	whyStepDown = reasons.Kind("step-down", "%s -> lead term %d no more")
	// whyKeepsTerm is the reason why a leader that is not eligible leads on.
	whyKeepsTerm = reasons.Kind("leads-on", "not eligible: %s -> lead term %d on, do not stand again")

	whyNoMajority = reasons.Kind("no-majority", "no majority answered %d rounds of heartbeats -> ask no more",
		algorithms.Unheeded{}).
		Follows("if count(acks) < quorum: # Can't reach quorum, step down")
)

// lead begins a leadership: "Once a candidate wins an election, it becomes leader. It then
// sends heartbeat messages to all of the other servers to establish its authority". The first
// heartbeats have the nonce of the last round of REQUEST_VOTE.
func (m *Machine) lead() {
	s := &m.candidacy
	s.phase, s.taken, s.Failed, s.due = leading, m.now, 0, time.Time{}
	s.next = s.noted.Add(m.every)
	m.leadOn()
	m.seen, m.older = m.belief.Leadership(), older{}
	m.heartbeatAll()
}

// leadOn makes this node lead until the lease ends, and renew the lease. If the node had stopped sending
// heartbeats, it starts again.
func (m *Machine) leadOn() {
	s := &m.candidacy
	m.belief = algorithms.Leader{ID: m.cfg.Self, Incarnation: m.cfg.Incarnation, Term: s.term, Until: s.leaseEnd}
	if s.next.IsZero() {
		s.next = m.now
	}
}

// beatDue reports whether a round of heartbeats is due.
func (m *Machine) beatDue() bool {
	s := &m.candidacy
	return !s.next.IsZero() && !m.now.Before(s.next) || m.lendDue()
}

// heartbeatAll sends a heartbeat to all other voters, and to all other living nodes.
func (m *Machine) heartbeatAll() {
	body, ok := m.heartbeat()
	if !ok {
		return
	}
	m.tell(m.candidacy.term, body)
	for i := range m.alive {
		if id := m.alive[i].ID; id != m.cfg.Self && !m.list.union.Has(id) {
			m.send(id, m.candidacy.term, body)
		}
	}
}

// heartbeatTo sends a heartbeat to a node that has just come into view.
func (m *Machine) heartbeatTo(id proto.NodeID) {
	if body, ok := m.heartbeat(); ok {
		m.send(id, m.candidacy.term, body)
	}
}

// heartbeat returns the heartbeat of the present round. ok is false if no time of the lease is left.
func (m *Machine) heartbeat() (body proto.Body, ok bool) {
	s := &m.candidacy
	left := s.leaseEnd.Sub(m.now).Truncate(time.Microsecond)
	return proto.Heartbeat{
		Leader: m.self, Nonce: s.nonce, Remaining: left, Voters: m.voterSet(), Lent: m.lending(),
	}, left > 0
}

// The reasons why a node follows the sender of a heartbeat, or does not follow it.
var (
	WhyFollow    = reasons.Kind("follow", "%d leads term %d -> follow it", algorithms.Follows{Term: 1})
	whyAnnounces = reasons.Kind("announces-other", "%d says that %d leads -> drop it")
	whyStale     = reasons.Kind("stale", "HEARTBEAT of term %d is below term %d -> do not follow", algorithms.Ignores{})
	whyGone      = reasons.Kind("gone", "%d is gone or released term %d -> do not follow", algorithms.Ignores{})
	whyWoke      = reasons.Kind("woke",
		"this process has just woken, and the HEARTBEAT of %d may be as old -> wait for the next",
		algorithms.Woke{})
)

// followVerdict says whether this node follows the sender of a heartbeat.
type followVerdict int

// The verdicts of hear.
const (
	dropped  followVerdict = iota // the sender does not say that it leads itself
	unheeded                      // the sender may not lead any more, or a later leadership is known
	followed
)

// hear judges a heartbeat: "If the leader's term (included in its RPC) is at least as large
// as the candidate's current term, then the candidate recognizes the leader as legitimate and
// returns to follower state."
func (m *Machine) hear(msg proto.Message, b proto.Heartbeat) followVerdict {
	switch is := leadershipIn(msg, b); {
	case msg.From != b.Leader.ID:
		m.refuse(whyAnnounces, msg.From, b.Leader.ID)
		return dropped
	case !m.mayLead(msg.From, b.Voters) && !m.vouchedFor(msg) && !m.bound(msg.From, b.Leader.Incarnation):
		m.refuse(whyStranger, msg.Body.Kind(), msg.From, msg.To)
		return dropped
	case is.Compare(m.seen) < 0 && !m.leadsOn(is), m.candidacy.phase >= claiming && msg.Term < m.candidacy.term:
		m.why(whyStale, msg.Term, max(m.seen.Term, m.candidacy.term))
	case m.voter.dead[msg.From] == b.Leader.Incarnation,
		m.voter.over && msg.Term == m.state.Vote.Term && m.bound(msg.From, b.Leader.Incarnation):
		m.why(whyGone, msg.From, msg.Term)
	case m.stale():
		m.why(whyWoke, msg.From)
	default:
		return followed
	}
	return unheeded
}

// older is a leadership below the highest that this node heard of. It may be one that goes on, if the higher one was a
// lie: see leadsOn.
type older struct {
	proto.Leadership
	since, last time.Time // when its heartbeats were heard
	asked       time.Time // when its leader was last asked whether it leads
	yes         time.Time // when the last of these questions was asked that the leader answered with yes
}

// leadsOn notes a heartbeat of a leadership below the highest that this node heard of. It reports whether this
// leadership goes on: its heartbeats have come for a whole promise, none of a higher one since, and its leader says
// that it leads, asked just now. A leader says so only while it has its lease, and that had ended before the voters
// elected the next one. So a voter that says that it leads a term, and never won it, keeps no other node from its
// leader for longer; and heartbeats that come late, however they come, undo no later term.
func (m *Machine) leadsOn(is proto.Leadership) bool {
	o := &m.older
	if o.Leadership != is || m.now.Sub(o.last) > 2*m.every {
		*o = older{Leadership: is, since: m.now}
	}
	o.last = m.now
	heard := m.now.Sub(o.since)
	if heard >= m.cfg.Promise && m.now.Sub(o.yes) <= 2*m.every {
		return true
	}
	if heard >= m.cfg.Promise/2 && m.now.Sub(o.asked) >= AnswerTimeout(m.cfg.Delta) {
		m.questions++
		o.asked = m.now
		m.send(is.Leader, 0, proto.Recover{Incarnation: m.cfg.Incarnation, Number: m.questions})
	}
	return false
}

// saysItLeads notes the answer to the last question of leadsOn.
func (m *Machine) saysItLeads(msg proto.Message, b proto.VoterState) {
	o := &m.older
	if b.Number > 0 && b.Number == m.questions && b.Incarnation == m.cfg.Incarnation && b.Follows == o.Leadership &&
		msg.From == o.Leader {
		o.yes = o.asked
	}
}

// follow notes the sender of a heartbeat as the leader, and what it says of the list of voters. This node stops being a
// candidate.
func (m *Machine) follow(msg proto.Message, b proto.Heartbeat) {
	is := leadershipIn(msg, b)
	if is != m.belief.Leadership() {
		m.why(WhyFollow, msg.From, msg.Term)
	}
	m.seen, m.known, m.older = is, max(m.known, msg.Term), older{}
	m.belief = algorithms.Leader{
		ID: msg.From, Incarnation: b.Leader.Incarnation, Term: msg.Term,
		Until: m.now.Add(min(b.Remaining, Of(m.cfg.Promise))),
	}
	if m.candidacy.phase == asking {
		m.candidacy.stop()
	}
	m.handing.drop()
	m.handing.yield = time.Time{}
	if !m.rejoin.active { // else who answers it says so
		m.hearVoters(msg.From, b.Voters)
	}
}

func leadershipIn(msg proto.Message, b proto.Heartbeat) proto.Leadership {
	return proto.Leadership{Term: msg.Term, Leader: b.Leader.ID, Incarnation: b.Leader.Incarnation}
}

// The reasons why a node drops a message.
var (
	whyNoVoter  = reasons.Kind("no-voter", "%s from %d, but this node is no voter -> drop it")
	whyStranger = reasons.Kind("stranger", "%s from %d to %d, not of a voter -> drop it")
	whyForeign  = reasons.Kind("foreign", "%s is no message of a lease -> drop it")
)

// leads reports whether this node leads.
func (m *Machine) leads() bool { return m.candidacy.phase == leading }

// keepLeading sends heartbeats when they are due, and offers to hand over to another node if that node
// has been the better choice for long enough.
func (m *Machine) keepLeading() {
	m.expireOffer()
	if at := m.handOverAt(); !at.IsZero() && !m.now.Before(at) {
		best, _ := m.better()
		m.prefer(best)
	}
	if m.beatDue() {
		m.beat()
	}
}

// beat begins a round of heartbeats, or of REQUEST_VOTE while former leaders are being fenced. If no
// majority answered the last rounds, beat begins no round, and the lease runs out: a leader that no
// majority answers steps down (check-quorum; Ongaro 2014, 6.2).
func (m *Machine) beat() {
	if m.unanswered() >= mostRounds {
		m.why(whyNoMajority, mostRounds)
		m.candidacy.next = time.Time{}
		return
	}
	m.beginRound()
	if m.leads() {
		m.heartbeatAll()
		m.hearLeader()
	} else {
		m.tell(m.candidacy.term, proto.RequestVote(m.request()))
	}
	m.countVotes()
}

// handOverAt returns when the leader offers to hand over to the nominee: see preferAt. It returns zero
// while the leader itself is the best choice, was chosen by an operator, or already makes an offer.
func (m *Machine) handOverAt() time.Time {
	if _, ok := m.better(); !ok || m.handing.stays || m.offering() {
		return time.Time{}
	}
	return m.preferAt(m.nomineeSince)
}

// better returns the nominee, if the nominee is another voter that is alive and eligible, and ranks
// above this node.
func (m *Machine) better() (best proto.Peer, ok bool) {
	if m.nominated() || !m.voters.Has(m.nominee.ID) {
		return best, false
	}
	for _, p := range m.alive {
		if p.ID == m.nominee.ID && p.Incarnation == m.nominee.Incarnation {
			return p, !p.Ineligible && p.Above(m.self)
		}
	}
	return best, false
}

// leave ends this node's candidacy or leadership: from this Step on this node does not lead. A former
// leader sends RELEASE when the host says that all its work has stopped.
func (m *Machine) leave(reason algorithms.Reason) {
	s := &m.candidacy
	switch s.phase {
	case asking:
		m.handing.drop()
		s.stop()
	case claiming, securing:
		m.giveUpClaim(reason)
	case leading:
		m.why(whyStepDown, reason, s.term)
		m.belief = algorithms.Leader{}
		s.leaving = s.term
		m.handing.drop()
		m.handing.due, m.handing.yield = time.Time{}, time.Time{}
		s.stop()
		m.heardAt, m.news = m.now, News{Kind: Heard}
		m.retryAt = m.now.Add(HeartbeatEvery(m.cfg.Promise))
	case idle:
	}
}

// deadlines appends to the list at the times at which this Machine has to do something. It leaves out
// the times of the nominating Machine.
func (m *Machine) deadlines(at []time.Time) []time.Time {
	s := &m.candidacy
	at = append(at, m.freeAt(), m.belief.Until, s.due, m.backOffEnd, m.rejoin.at(), m.handing.due)
	if m.leads() {
		at = append(at, s.next, m.handOverAt())
	}
	if s.phase == securing {
		at = append(at, s.next, s.leaseEnd)
		if m.fencing.asked == nil {
			at = append(at, m.fencing.at)
		}
	}
	if m.votes() && !m.rejoin.active && s.phase == idle && m.stands() && m.belief.ID == 0 && s.leaving == 0 {
		at = append(at, m.nextTry())
	}
	return at
}

// nextTry returns when an idle voter may stand; zero if the Watcher says when.
func (m *Machine) nextTry() time.Time {
	turn := m.standAt()
	switch {
	case m.nominated() || m.handing.chosen || m.contends():
		turn = m.now
	case m.watcher != nil:
		return time.Time{} // it says when
	}
	for _, not := range []time.Time{m.retryAt, m.handing.yield} {
		if not.After(turn) {
			turn = not
		}
	}
	return turn
}
