package store

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// transfer is this node's part in a transfer: as the leader, as the successor, or as another node.
type transfer struct {
	// On the leader:
	to        proto.Peer // the node that the leader has made an offer to; zero for none
	nonce     uint64     // the number of that offer
	due       time.Time  // when the answer should be here
	asked     bool       // an operator or the host asked for the transfer, and waits for the outcome
	told      bool       // an operator chose the successor
	successor proto.Peer // the node that accepted: it gets TIMEOUT_NOW once this node has left
	times     int        // how many offers the leader made to a better node
	calm      time.Time  // the leader makes no such offer before this time

	// On the successor: it stands at once. stays says that an operator chose it, so that no better node
	// takes the leadership from it.
	chosen, stays bool
	open          *proto.Message // the OFFER that this node answers when the store has answered; nil for none

	// On the other nodes: no such node stands before this time, so that the successor stands alone.
	yield time.Time
}

// drop forgets that a leader chose this node: another leads, or this node leads no more.
func (h *transfer) drop() { h.chosen, h.stays = false, false }

// offerTimeout returns how long a leader waits for the answer of the node to which it offers to hand over.
func offerTimeout(delta time.Duration) time.Duration { return 2 * lease.AnswerTimeout(delta) }

var (
	whyHandOver   = reasons.Kind("hand-over", "asked to hand over -> offer it to %d")
	whyLeadOn     = reasons.Kind("lead-on", "%d does not take over: %s -> lead on")
	whyNoTransfer = reasons.Kind("no-transfer", "a transfer to %s: %s -> change nothing")
	whyOffered    = reasons.Kind("offered", "%d offers to hand over -> %v")
	whyTakesOver  = reasons.Kind("takes-over", "%d would take over",
		algorithms.Because{Kind: algorithms.HandOver, About: algorithms.Self})
	whyPrefer = reasons.Kind("prefer",
		"%d has ranked above this node for long -> offer to hand over, and to nobody again for %v")
	whyYield       = reasons.Kind("yield", "%d is to take over -> do not stand for a moment")
	whyHanded      = reasons.Kind("handed", "%d hands over -> stand")
	whyHandedAside = reasons.Kind("handed-aside", "%d hands over, this node does not stand -> do nothing")
)

// refusing returns the Refusing that knows which other nodes could take over.
func (m *Machine) refusing(to proto.NodeID) algorithms.Refusing {
	return algorithms.Refuse(m.others, to)
}

// offering reports whether an offer is not answered yet.
func (m *Machine) offering() bool { return m.handing.to.ID != 0 }

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
	m.handing.asked, m.handing.told = true, !wish.Leaves
	m.offer(successor)
}

// successor returns the node to which this node may hand over, or why this node may not.
func (m *Machine) successor(to proto.NodeID) (successor proto.Peer, why algorithms.Refusal) {
	no := m.refusing(to)
	switch {
	case !m.leads() && m.belief.ID == 0:
		return successor, no.Nobody()
	case !m.leads():
		return successor, no.Elsewhere(m.belief.ID)
	case m.offering():
		return successor, no.UnderWay(m.handing.to.ID)
	case to == m.cfg.Self:
		return successor, no.Self()
	}
	return no.Successor(m.others, to)
}

// offer asks the successor whether it would lead. This node leads on until the successor says yes.
func (m *Machine) offer(successor proto.Peer) {
	h := &m.handing
	h.to = successor
	h.nonce++
	h.due = m.now.Add(offerTimeout(m.cfg.Delta))
	m.send(successor.ID, m.belief.Term, proto.Offer{
		Incarnation: m.cfg.Incarnation, Nonce: h.nonce, To: successor.Incarnation,
	})
}

// offered handles a leader's OFFER. Whoever would take over asks the store first: whoever does not reach it
// refuses.
func (m *Machine) offered(msg proto.Message, b proto.Offer) {
	if no := m.declines(msg, b); no != proto.NoDecline {
		m.replyTo(msg, b, no)
		return
	}
	m.handing.open = &msg
	m.desk.look = m.now
}

// declines returns why this node refuses an offer; proto.NoDecline if it would take over.
func (m *Machine) declines(msg proto.Message, b proto.Offer) proto.Decline {
	switch {
	case b.To != m.cfg.Incarnation:
		return proto.DeclineIncarnation
	case !m.stands():
		return proto.DeclineAside
	case m.belief.ID != msg.From || m.belief.Incarnation != b.Incarnation || m.belief.Term != msg.Term:
		return proto.DeclineBehind
	case m.desk.failed > 0:
		return proto.DeclineStore
	}
	return proto.NoDecline
}

// replyToOpen answers the OFFER that waits for what came of an ask.
func (m *Machine) replyToOpen() {
	if msg := m.handing.open; msg != nil {
		m.handing.open = nil
		offer := msg.Body.(proto.Offer)
		m.replyTo(*msg, offer, m.declines(*msg, offer))
	}
}

func (m *Machine) replyTo(msg proto.Message, b proto.Offer, no proto.Decline) {
	m.why(whyOffered, msg.From, no)
	m.send(msg.From, msg.Term, proto.Reply{Incarnation: b.Incarnation, Nonce: b.Nonce, No: no})
}

// offerReplied handles the answer to an offer. If it is yes, this node stops leading.
func (m *Machine) offerReplied(msg proto.Message, b proto.Reply) {
	h := &m.handing
	if !m.leads() || msg.From != h.to.ID || msg.Term != m.belief.Term ||
		b.Incarnation != m.cfg.Incarnation || b.Nonce != h.nonce {
		return
	}
	if b.No != proto.NoDecline {
		m.endTransfer(m.refusing(h.to.ID).Declined(b.No))
		return
	}
	h.successor = h.to
	m.endTransfer(algorithms.Refusal{})
	m.leave(whyTakesOver.Of(h.successor.ID))
}

// expireOffer ends an offer that was not answered in time.
func (m *Machine) expireOffer() {
	if due := m.handing.due; !due.IsZero() && !m.now.Before(due) && m.out.Transfer == nil {
		m.endTransfer(m.refusing(m.handing.to.ID).Silent())
	}
}

// loseOffer ends an offer of this node when it no longer leads.
func (m *Machine) loseOffer() {
	switch {
	case !m.offering():
	case m.out.Transfer != nil:
		m.handing.due = m.now
	default:
		m.endTransfer(m.refusing(m.handing.to.ID).Lost())
	}
}

// endTransfer ends an offer, and tells the result to whoever asked for the transfer.
func (m *Machine) endTransfer(refused algorithms.Refusal) {
	h := &m.handing
	to, asked, taken := h.to.ID, h.asked, refused == algorithms.Refusal{}
	if to == 0 {
		return
	}
	h.to, h.due, h.asked = proto.Peer{}, time.Time{}, false
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

// giveWay makes this node not stand for a moment, so that the node to stands alone.
func (m *Machine) giveWay(to proto.NodeID) {
	if to == 0 || to == m.cfg.Self {
		return
	}
	m.why(whyYield, to)
	m.handing.yield = m.now.Add(RenewEvery(m.cfg.Promise) / 2)
}

// takeOver handles TIMEOUT_NOW: the last leader has left and chose this process, which stands at once.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	led := proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	switch {
	case b.To != m.cfg.Incarnation || m.seen != led:
		return
	case !m.stands():
		m.why(whyHandedAside, msg.From)
		return
	}
	m.why(whyHanded, msg.From)
	m.handing.chosen, m.handing.stays, m.handing.yield = true, b.Chosen, time.Time{}
	m.released(msg, proto.Release{Incarnation: b.Incarnation})
}

// handOverAt returns when the leader offers to hand over to the nominee: when that has been the better
// choice for long. It returns zero while there is no better choice.
func (m *Machine) handOverAt() time.Time {
	h := &m.handing
	if _, ok := m.better(); !ok || !m.cfg.Preempt || h.stays || m.offering() {
		return time.Time{}
	}
	since := m.nomineeSince
	if m.leading.taken.After(since) {
		since = m.leading.taken
	}
	at := since.Add(lease.PreferAfter(m.cfg.Promise))
	if h.calm.After(at) {
		at = h.calm
	}
	return at
}

// better returns the nominee, if the nominee is another node that is alive and eligible, and ranks above
// this node.
func (m *Machine) better() (best proto.Peer, ok bool) {
	if !m.leads() || m.nominated() {
		return best, false
	}
	for _, p := range m.alive {
		if p.ID == m.nominee.ID && p.Incarnation == m.nominee.Incarnation {
			return p, !p.Ineligible && p.Above(m.self)
		}
	}
	return best, false
}

// prefer offers the leadership to the better node. After each offer, the wait before the next is twice as
// long.
func (m *Machine) prefer() {
	best, _ := m.better()
	h := &m.handing
	h.times++
	wait := min(lease.PreferAfter(m.cfg.Promise)<<min(h.times, lease.MostDoublings), lease.MostPenalty(m.cfg.Promise))
	h.calm = m.now.Add(wait)
	m.why(whyPrefer, best.ID, wait)
	m.offer(best)
}
