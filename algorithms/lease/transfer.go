package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// transfer is this node's part in a transfer: as the leader, as the successor, or as another node.
type transfer struct {
	// On the leader:
	to        proto.Peer   // the node that the leader has made an offer to; zero for none
	nonce     uint64       // the number of that offer
	due       time.Time    // when the answer should be here
	asked     bool         // an operator or the host asked for the transfer, and waits for the outcome
	leaves    bool         // the host gives up the leadership: any node that could win may take over
	vain      quorum.Count // the nodes that refused an offer while the host leaves
	successor proto.Peer   // the node that accepted: it gets TIMEOUT_NOW once the work has stopped
	told      bool         // an operator chose the successor

	// On the successor. chosen says that this node becomes a candidate at once. stays says that an
	// operator chose this node, so that no higher-ranked node takes the leadership from it.
	chosen, stays bool
	given         proto.Term // the term that this node asked for when TIMEOUT_NOW last came
	survey        survey

	// On the other nodes: no such node stands before the time yield, so that the successor stands alone.
	yield time.Time

	// On a voter: until the time favors, this voter says yes to the node favored and to no other.
	favored proto.NodeID
	favors  time.Time
}

// survey is the question that a node asks the voters before it accepts a leader's offer: would they vote
// for this node once that leader has released its term?
type survey struct {
	offer request    // the offer that this node must answer
	from  proto.Peer // the leader that made it; zero while there is no survey
	led   proto.Term // the term of that leader
	term  proto.Term // the term that the voters are asked for
	nonce uint64     // of the PRE_VOTE
	yes   quorum.Count
	due   time.Time // when the answers should be here
}

// drop forgets that this node was chosen.
func (h *transfer) drop() { h.chosen, h.stays = false, false }

var (
	whyHandOver   = reasons.Kind("hand-over", "asked to hand over -> offer it to %d")
	whyOfferNext  = reasons.Kind("offer-next", "%d does not take over: %s -> offer it to %d")
	whyLeadOn     = reasons.Kind("lead-on", "%d does not take over: %s -> lead on")
	whyNoTransfer = reasons.Kind("no-transfer", "a transfer to %s: %s -> change nothing")
)

// handOver handles the request of an operator, or of a host that leaves, to hand over.
func (m *Machine) handOver(wish algorithms.Transfer) {
	successor, why := m.successor(wish.To)
	if wish.Leaves && why != (algorithms.Refusal{}) {
		successor, why = m.successor(0)
	}
	if why != (algorithms.Refusal{}) {
		m.refuseTransfer(wish.To, why)
		return
	}
	m.why(whyHandOver, successor.ID)
	m.handing.asked, m.handing.leaves = true, wish.Leaves
	m.handing.vain.Reset()
	m.offer(successor)
}

// offerNext makes an offer to the best node that has not refused one yet, if the host leaves. It
// reports whether there is such a node.
func (m *Machine) offerNext(why string) bool {
	h := &m.handing
	if !h.leaves || m.candidacy.phase != leading {
		return false
	}
	h.vain.Add(h.to.ID)
	var next proto.Peer
	for other := range m.others {
		if !other.Ineligible && !h.vain.Has(other.ID) && (next.ID == 0 || other.Above(next)) {
			next = other
		}
	}
	if next.ID == 0 {
		return false
	}
	m.why(whyOfferNext, h.to.ID, why, next.ID)
	m.offer(next)
	return true
}

// offer asks the successor whether it would lead. This node leads on until the successor says yes. So a
// successor that is dead, or does not know the present leader, does not leave the cluster without a
// leader.
func (m *Machine) offer(successor proto.Peer) {
	h := &m.handing
	h.to = successor
	h.nonce++
	h.due = m.now.Add(offerTimeout(m.cfg.Delta))
	m.send(successor.ID, m.candidacy.term, proto.Offer{
		Incarnation: m.cfg.Incarnation, Nonce: h.nonce, To: successor.Incarnation,
	})
}

// successor returns the node to which this node may hand over, or why this node may not. If to is 0,
// successor chooses the best node.
func (m *Machine) successor(to proto.NodeID) (successor proto.Peer, why algorithms.Refusal) {
	leads, no := m.candidacy.phase == leading, m.refusing(to)
	switch {
	case !leads && m.belief.ID == 0:
		return successor, no.Nobody()
	case !leads:
		return successor, no.Elsewhere(m.belief.ID)
	case m.handing.to.ID != 0:
		return successor, no.UnderWay(m.handing.to.ID)
	case to == m.cfg.Self:
		return successor, no.Self()
	case to != 0 && !m.voters.Has(to):
		return successor, no.NoVoter()
	}
	return no.Successor(m.others, to)
}

// others iterates over the other voters that are alive.
func (m *Machine) others(yield func(proto.Peer) bool) {
	for _, other := range m.alive {
		if other.ID != m.cfg.Self && m.voters.Has(other.ID) && !yield(other) {
			return
		}
	}
}

// refusing returns the Refusing that knows which other voters could take over. Its methods give the reasons
// for refusing a transfer to the node to.
func (m *Machine) refusing(to proto.NodeID) algorithms.Refusing {
	return algorithms.Refuse(m.others, to)
}

var (
	whyOffered = reasons.Kind("offered", "%d offers to hand over -> %v")
	whySurvey  = reasons.Kind("survey",
		"%d offers to hand over -> ask the voters whether they would vote in term %d but for it")
	whySaysYes = reasons.Kind("says-yes", "%d says yes")
)

// offered handles a leader's OFFER to hand over to this node. It refuses at once, or asks the voters
// first, as before any candidacy. The leader leads on meanwhile.
func (m *Machine) offered(msg proto.Message, b proto.Offer) {
	no := proto.NoDecline
	switch {
	case b.To != m.cfg.Incarnation:
		no = proto.DeclineIncarnation
	case !m.votes():
		no = proto.DeclineNonVoter
	case m.rejoin.active:
		no = proto.DeclineVoteless
	case !m.stands():
		no = proto.DeclineAside
	case m.belief.ID != msg.From || m.belief.Incarnation != b.Incarnation || m.belief.Term != msg.Term:
		no = proto.DeclineBehind
	}
	if no != proto.NoDecline {
		m.why(whyOffered, msg.From, no)
		m.send(msg.From, msg.Term, proto.Reply{Incarnation: b.Incarnation, Nonce: b.Nonce, No: no})
		return
	}
	m.candidacy.nonce++
	s := &m.handing.survey
	*s = survey{
		offer: request{Incarnation: b.Incarnation, Nonce: b.Nonce},
		from:  proto.Peer{ID: msg.From, Incarnation: b.Incarnation},
		led:   msg.Term, term: m.known + 1, nonce: m.candidacy.nonce, due: m.now.Add(AnswerTimeout(m.cfg.Delta)),
	}
	m.why(whySurvey, msg.From, s.term)
	own := m.own(s.term)
	own.kind = proto.KindPreVote
	if no, _, _ := m.judge(own); wouldAfter(no, msg.From) {
		s.yes.Add(m.cfg.Self)
	}
	m.tell(s.term, proto.PreVote(m.request()))
}

// wouldAfter reports whether a voter that gave this answer would say yes once the leader has released
// its term. A voter that already voted in the term counts as a yes, too, since the next candidacy takes
// a higher term.
func wouldAfter(r proto.Answer, leader proto.NodeID) bool {
	switch r.Denial {
	case proto.NotDenied, proto.DeniedVoted:
		return true
	case proto.DeniedPromised, proto.DeniedStands:
		return r.To == leader
	}
	return false
}

// surveyed counts msg if it answers the present survey, and reports whether it does.
func (m *Machine) surveyed(msg proto.Message, b proto.PreVoteReply) bool {
	s := &m.handing.survey
	if s.from.ID == 0 || b.Incarnation != m.cfg.Incarnation || b.Nonce != s.nonce {
		return false
	}
	if b.Granted() {
		m.why(whySaysYes, msg.From)
	} else {
		m.say(whySays.of(b.Answer, msg.From))
	}
	if wouldAfter(b.Answer, s.from.ID) {
		s.yes.Add(msg.From)
	}
	if m.enough(&s.yes) {
		m.endSurvey()
	}
	return true
}

// endSurvey answers the leader's offer. It says yes if a majority would vote for this node, and this
// node still follows that leader and would lead.
func (m *Machine) endSurvey() {
	s, no := &m.handing.survey, proto.NoDecline
	switch {
	case !m.enough(&s.yes):
		no = proto.DeclineMajority
	case m.belief.Leadership() != (proto.Leadership{Term: s.led, Leader: s.from.ID, Incarnation: s.from.Incarnation}):
		no = proto.DeclineBehind
	case !m.stands():
		no = proto.DeclineAside
	}
	m.why(whyOffered, s.from.ID, no)
	m.send(s.from.ID, s.led, proto.Reply{Incarnation: s.offer.Incarnation, Nonce: s.offer.Nonce, No: no})
	*s = survey{}
}

// expireSurvey ends a survey when the time for the voters' answers is over. In a survey a successor asks
// the voters, before it accepts a leader's offer, whether they would vote for it.
func (m *Machine) expireSurvey() {
	if due := m.handing.survey.due; !due.IsZero() && !m.now.Before(due) {
		m.endSurvey()
	}
}

// offerReplied handles the answer to an offer. If it is yes, this node stops leading.
func (m *Machine) offerReplied(msg proto.Message, b proto.Reply) {
	h := &m.handing
	if m.candidacy.phase != leading || msg.From != h.to.ID || msg.Term != m.candidacy.term ||
		b.Incarnation != m.cfg.Incarnation || b.Nonce != h.nonce {
		return
	}
	if b.No != proto.NoDecline {
		m.endTransfer(m.declined(b.No))
		return
	}
	successor, told := h.to, h.asked && !h.leaves
	m.endTransfer(algorithms.Refusal{})
	h.successor, h.told = successor, told
	m.leave(whyTakesOver.Of(successor.ID))
}

// expireOffer ends an offer that was not answered in time. An Output can tell the end of one transfer
// only: if the present Output already tells the end of another transfer, expireOffer waits for the next
// Step.
func (m *Machine) expireOffer() {
	if due := m.handing.due; !due.IsZero() && !m.now.Before(due) && m.out.Transfer == nil {
		m.endTransfer(m.refusing(m.handing.to.ID).Silent())
	}
}

// loseOffer ends an offer of this node when it no longer leads. If another transfer ended in this Step,
// loseOffer leaves the offer to the next Step.
func (m *Machine) loseOffer() {
	switch {
	case !m.offering():
	case m.out.Transfer != nil:
		m.handing.due = m.now
	default:
		m.endTransfer(m.refusing(m.handing.to.ID).Lost())
	}
}

// endTransfer ends an offer, and tells the result to whoever asked for the transfer. If the offer was
// refused and the host leaves, the next node gets an offer instead.
func (m *Machine) endTransfer(refused algorithms.Refusal) {
	h := &m.handing
	to, asked, taken := h.to.ID, h.asked, refused == algorithms.Refusal{}
	if to == 0 || !taken && m.offerNext(refused.Why) {
		return
	}
	h.to, h.due, h.asked, h.leaves = proto.Peer{}, time.Time{}, false, false
	switch {
	case asked && taken:
		m.out.Transfer = &algorithms.TransferEnd{To: to}
	case asked:
		m.refuseTransfer(to, refused)
	case !taken:
		m.why(whyLeadOn, to, refused.Why)
	}
}

func (m *Machine) refuseTransfer(to proto.NodeID, why algorithms.Refusal) {
	m.out.Transfer = &algorithms.TransferEnd{To: to, Refused: why.String()}
	m.why(whyNoTransfer, m.out.Transfer.Successor(), m.out.Transfer.Refused)
}

// offering reports whether an offer is not answered yet.
func (m *Machine) offering() bool { return m.handing.to.ID != 0 }

var (
	whyStopped = reasons.Kind("stopped", "the work of term %d has stopped -> release it")
	whyYield   = reasons.Kind("yield", "%d is to take over -> do not stand for a moment")
)

// stopped releases the term once the work of this node's leadership has stopped, and then tells the
// successor to stand.
func (m *Machine) stopped(term proto.Term) {
	s := &m.candidacy
	if s.leaving == 0 || term != s.leaving {
		return
	}
	s.leaving = 0
	m.why(whyStopped, term)
	m.release(term)
	m.tellSuccessor(term)
}

func (m *Machine) tellSuccessor(term proto.Term) {
	h := &m.handing
	successor, chosen := h.successor, h.told
	h.successor, h.told = proto.Peer{}, false
	if successor.ID == 0 {
		return
	}
	m.send(successor.ID, term, proto.TakeOver{
		Incarnation: m.cfg.Incarnation, To: successor.Incarnation, Chosen: chosen,
	})
	m.giveWay(successor.ID)
}

// giveWay makes this voter favor the node to for a moment. If that is another node, this node does not
// stand for as long, so that the successor stands alone.
func (m *Machine) giveWay(to proto.NodeID) {
	if to == 0 {
		return
	}
	m.handing.favored, m.handing.favors = to, m.now.Add(m.every)
	if to == m.cfg.Self {
		return
	}
	m.why(whyYield, to)
	m.handing.yield = m.now.Add(m.every)
}

var (
	whyHandedFormer = reasons.Kind("handed-former", "%d hands over to a former life of this node -> drop it")
	whyHandedOther  = reasons.Kind("handed-other", "%d does not hand over what it leads now -> drop its TIMEOUT_NOW")
	whyHandedAside  = reasons.Kind("handed-aside", "%d hands over, this node does not stand -> do nothing")
	whyHanded       = reasons.Kind("handed", "%d hands over -> take term %d")
)

// takeOver handles TIMEOUT_NOW: the last leader has left and chose this process, which stands at once.
// takeOver changes nothing if the message is late, is from or to a former life, or if this node does not
// stand or is already asking the voters.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	h, led := &m.handing, proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	switch {
	case b.To != m.cfg.Incarnation:
		m.why(whyHandedFormer, msg.From)
		return
	case m.seen != led || m.candidacy.phase != idle:
		m.why(whyHandedOther, msg.From)
		return
	case !m.stands():
		m.why(whyHandedAside, msg.From)
		return
	}
	h.given = m.nextTerm()
	m.why(whyHanded, msg.From, h.given)
	m.giveWay(m.cfg.Self)
	if m.bound(msg.From, b.Incarnation) && m.state.Vote.Term == msg.Term {
		m.voter.over, m.voter.kept = true, time.Time{} // TIMEOUT_NOW is sent after RELEASE
	}
	h.chosen, h.stays, h.yield = true, b.Chosen, time.Time{}
	m.forget(proto.Peer{ID: msg.From, Incarnation: b.Incarnation}, whyLeaderLeft)
	m.retryAt = time.Time{}
}

// preference limits how often a leader offers the leadership to a node that ranks above it.
type preference struct {
	times int       // how many such offers the leader made, since it last made none for a long time
	until time.Time // the leader makes no such offer before this time
}

// preferAt returns when the leader offers to hand over to a node that has been the better choice since
// the given time. The node must have been the better choice for long enough, and only the time in which
// this leader led counts. After each offer the needed time is longer. So a node whose links come and go
// every few seconds gets no offer.
func (m *Machine) preferAt(since time.Time) time.Time {
	if m.candidacy.taken.After(since) {
		since = m.candidacy.taken
	}
	stable := PreferAfter(m.cfg.Promise)
	if n := m.preferred.times; n > 0 {
		stable = preferPenalty(m.cfg.Promise, n)
	}
	at := since.Add(stable)
	if calm := m.preferred.until; calm.After(at) {
		return calm
	}
	return at
}

var whyPrefer = reasons.Kind("prefer",
	"%d has ranked above this node for long -> offer to hand over, and to nobody again for %v")

// prefer offers the leadership to the better node, and sets when this leader may make the next such
// offer. While ranks change often, it sets an ever longer wait.
func (m *Machine) prefer(best proto.Peer) {
	f := &m.preferred
	if m.now.Sub(f.until) > forgetPenalty(m.cfg.Promise) {
		f.times = 0
	}
	f.times++
	f.until = m.now.Add(preferPenalty(m.cfg.Promise, f.times))
	m.why(whyPrefer, best.ID, f.until.Sub(m.now))
	m.offer(best)
}

var whyNoSuccessor = reasons.Kind("no-successor", "%d is not alive, eligible and a voter -> another must take over")

// bequeath notes the successor that an operator named for a leader that resigns. It does so only if the
// nominating Machine is a Watcher: other nominating Machines name the successor in their own messages.
func (m *Machine) bequeath(to proto.NodeID) {
	if m.watcher == nil || to == 0 || m.candidacy.leaving == 0 {
		return
	}
	for _, p := range m.alive {
		if p.ID == to && p.ID != m.cfg.Self && m.voters.Has(to) && !p.Ineligible {
			m.handing.successor = p
			return
		}
	}
	m.why(whyNoSuccessor, to)
}
