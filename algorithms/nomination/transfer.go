package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// offer is the transfer that this node, the leader, has asked another about; to
// nobody while there is none.
type offer struct {
	to    proto.Peer
	nonce uint64 // of the last one
}

var whyOffer = reasons.Kind("offer", "asked to hand over -> offer it to %d")

// transfer asks the successor whether it would lead. Nothing changes until it
// said yes: one that is dead, or behind, costs nobody the leader.
func (c *Core) transfer(ev algorithms.Transfer) {
	heir, why := c.successor(ev.To)
	if why != (algorithms.Refusal{}) {
		c.tellTransfer(ev.To, why)
		return
	}
	c.Why(whyOffer, heir.ID)
	c.offer.to = heir
	c.offer.nonce++
	c.timers[timerOffer] = c.now.Add(OfferTimeout(c.cfg.Delta))
	c.Send(heir.ID, proto.Offer{Session: c.cfg.Session, Nonce: c.offer.nonce, To: heir.Session})
}

// successor is whom this node may hand over to, or why it may not.
func (c *Core) successor(to proto.NodeID) (heir proto.Peer, why algorithms.Refusal) {
	no := c.refusing(to)
	switch {
	case c.Looking():
		return heir, no.Nobody()
	case !c.Leading():
		return heir, no.Elsewhere(c.leader.ID)
	case c.offer.to.ID != 0:
		return heir, no.UnderWay(c.offer.to.ID)
	case to == c.cfg.Self:
		return heir, no.Self()
	}
	return no.Successor(c.roster.peers, to)
}

// refusing words why there is no transfer to a node.
func (c *Core) refusing(to proto.NodeID) algorithms.Refusing {
	return algorithms.Refuse("leads", c.roster.peers, to)
}

var whyOffered = reasons.Kind("offered", "%d offers to hand over -> %v")

// offered answers the leader that asks whether this node would lead after it.
func (c *Core) offered(m proto.Message, b proto.Offer) {
	no := proto.NoDecline
	switch {
	case b.To != c.cfg.Session:
		no = proto.DeclineSession
	case c.Aside():
		no = proto.DeclineAside
	case c.leader.ID != m.From || c.leader.Session != b.Session:
		no = proto.DeclineBehind
	}
	c.Why(whyOffered, m.From, no)
	c.Send(m.From, proto.Reply{Session: b.Session, Nonce: b.Nonce, No: no})
}

var (
	whyWouldLead    = reasons.Kind("would-lead", "%d would lead -> step down, hand over to it")
	whyNotTakenOver = reasons.Kind("not-taken-over", "the successor did not take over",
		algorithms.Caused(algorithms.RoundFailed))
)

// replied hands over once the successor said that it would lead. The order is:
// not leader any more, then the successor is told.
func (c *Core) replied(m proto.Message, b proto.Reply) {
	heir := c.offer.to
	if !c.Leading() || m.From != heir.ID || b.Session != c.cfg.Session || b.Nonce != c.offer.nonce {
		return
	}
	if b.No != proto.NoDecline {
		c.endTransfer(heir.ID, c.refusing(heir.ID).Declined(b.No))
		return
	}
	c.Why(whyWouldLead, heir.ID)
	c.leader = nobody
	c.spend()
	c.timers = [numTimers]time.Time{}
	c.endTransfer(heir.ID, algorithms.Refusal{})
	c.callAt(c.now.Add(c.damper.jitter(2*c.round.Patience())+OfferTimeout(c.cfg.Delta)),
		whyNotTakenOver.Of())
	c.Send(heir.ID, proto.TakeOver{Session: c.cfg.Session, To: heir.Session, Chosen: true})
}

// endTransfer ends the transfer that is under way.
func (c *Core) endTransfer(to proto.NodeID, refused algorithms.Refusal) {
	c.offer.to, c.timers[timerOffer] = nobody, zeroTime
	c.tellTransfer(to, refused)
}

var whyNoTransfer = reasons.Kind("no-transfer", "a transfer to %s: %s -> change nothing")

// tellTransfer tells the operator what came of a transfer.
func (c *Core) tellTransfer(to proto.NodeID, refused algorithms.Refusal) {
	c.out.Transfer = &algorithms.TransferEnd{To: to, Refused: refused.String()}
	if why := refused.String(); why != "" {
		c.Why(whyNoTransfer, c.out.Transfer.Successor(), why)
	}
}

// dropTransfer ends a transfer that this node can carry out no more.
func (c *Core) dropTransfer() {
	if to := c.offer.to.ID; to != 0 {
		c.endTransfer(to, c.refusing(to).Lost())
	}
}

var (
	whyOverToFormer  = reasons.Kind("over-to-former", "%d hands over to a former life of this node -> drop it")
	whyOverNotLeader = reasons.Kind("over-not-leader", "%d does not lead term %d any more -> drop its TIMEOUT_NOW")
	whyHandsOver     = reasons.Kind("hands-over", "%d hands over",
		algorithms.Because{Kind: algorithms.HandOver, About: 0}).
		Follows(timeoutNow)
)

// takeOverFrom takes the leadership that was handed over: by the leader of this
// term, and to this process. It ranks above all while it lasts: an operator's
// choice is not undone by pre-emption.
func (c *Core) takeOverFrom(m proto.Message, b proto.TakeOver) {
	from := proto.Peer{ID: m.From, Session: b.Session}
	led := proto.Epoch{Term: c.term, Leader: m.From, Session: b.Session}
	switch {
	case b.To != c.cfg.Session:
		c.Why(whyOverToFormer, m.From)
	case c.Leading(), c.floor != led, !c.Looking() && !c.leader.Is(from):
		c.Why(whyOverNotLeader, m.From, c.term)
	case c.Aside():
		c.passOn(m.From)
	default:
		c.leadChosen(whyHandsOver.Of(m.From))
	}
}

var whyTake = reasons.Kind("take", "%s -> take term %d", algorithms.Opens{Cause: 0, Term: 1})

// leadChosen leads the next term as an operator's choice.
func (c *Core) leadChosen(reason algorithms.Reason) {
	next := max(c.term, c.spent) + 1
	c.Why(whyTake, reason, next)
	c.adopt(next)
	chosen := c.self
	chosen.Attr = proto.ChosenAttr
	c.assume(chosen)
}
