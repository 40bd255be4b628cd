package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// offer is the offer that this node, the leader, made to a possible successor. Its field to is zero
// while there is no offer.
type offer struct {
	to    proto.Peer
	nonce uint64 // the number of the last offer
}

var whyOffer = reasons.Kind("offer", "asked to hand over -> offer it to %d")

// transfer asks the successor whether it will lead. Nothing changes until the successor has said yes: so
// a question to a node that is dead, or does not know the present leader, does not cost the cluster its
// leader.
func (c *Core) transfer(ev algorithms.Transfer) {
	successor, why := c.transferTo(ev.To)
	if why != (algorithms.Refusal{}) {
		c.tellTransfer(ev.To, why)
		return
	}
	c.Why(whyOffer, successor.ID)
	c.offer.to = successor
	c.offer.nonce++
	c.timers[timerOffer] = c.now.Add(OfferTimeout(c.cfg.Delta))
	c.Send(successor.ID, proto.Offer{Incarnation: c.cfg.Incarnation, Nonce: c.offer.nonce, To: successor.Incarnation})
}

// transferTo returns the node to which this node may hand over, or why this node may not hand over.
func (c *Core) transferTo(to proto.NodeID) (successor proto.Peer, why algorithms.Refusal) {
	no := c.refusing(to)
	switch {
	case c.Looking():
		return successor, no.Nobody()
	case !c.Leading():
		return successor, no.Elsewhere(c.leader.ID)
	case c.offer.to.ID != 0:
		return successor, no.UnderWay(c.offer.to.ID)
	case to == c.cfg.Self:
		return successor, no.Self()
	}
	return no.Successor(c.roster.peers, to)
}

// refusing returns the Refusing that words why there is no transfer to the node to.
func (c *Core) refusing(to proto.NodeID) algorithms.Refusing {
	return algorithms.Refuse(c.roster.peers, to)
}

var whyOffered = reasons.Kind("offered", "%d offers to hand over -> %v")

// offered answers a leader that asks whether this node will lead after it.
func (c *Core) offered(m proto.Message, b proto.Offer) {
	no := proto.NoDecline
	switch {
	case b.To != c.cfg.Incarnation:
		no = proto.DeclineIncarnation
	case c.Aside():
		no = proto.DeclineAside
	case c.leader.ID != m.From || c.leader.Incarnation != b.Incarnation:
		no = proto.DeclineBehind
	}
	c.Why(whyOffered, m.From, no)
	c.Send(m.From, proto.Reply{Incarnation: b.Incarnation, Nonce: b.Nonce, No: no})
}

var (
	whyWouldLead    = reasons.Kind("would-lead", "%d would lead -> step down, hand over to it")
	whyNotTakenOver = reasons.Kind("not-taken-over", "the successor did not take over",
		algorithms.Caused(algorithms.RoundFailed))
)

// replied hands over once the successor said that it will lead. The order is: first this node stops
// leading, then it tells the successor.
func (c *Core) replied(m proto.Message, b proto.Reply) {
	successor := c.offer.to
	if !c.Leading() || m.From != successor.ID || b.Incarnation != c.cfg.Incarnation || b.Nonce != c.offer.nonce {
		return
	}
	if b.No != proto.NoDecline {
		c.endTransfer(successor.ID, c.refusing(successor.ID).Declined(b.No))
		return
	}
	c.Why(whyWouldLead, successor.ID)
	c.leader = nobody
	c.spend()
	c.timers = [numTimers]time.Time{}
	c.endTransfer(successor.ID, algorithms.Refusal{})
	c.callAt(c.now.Add(c.backOff.jitter(2*c.round.Patience())+OfferTimeout(c.cfg.Delta)),
		whyNotTakenOver.Of())
	c.Send(successor.ID, proto.TakeOver{Incarnation: c.cfg.Incarnation, To: successor.Incarnation, Chosen: true})
}

// endTransfer ends the present transfer.
func (c *Core) endTransfer(to proto.NodeID, refused algorithms.Refusal) {
	c.offer.to, c.timers[timerOffer] = nobody, zeroTime
	c.tellTransfer(to, refused)
}

var whyNoTransfer = reasons.Kind("no-transfer", "a transfer to %s: %s -> change nothing")

// tellTransfer puts the result of a transfer into the Output.
func (c *Core) tellTransfer(to proto.NodeID, refused algorithms.Refusal) {
	c.out.Transfer = &algorithms.TransferEnd{To: to, Refused: refused.String()}
	if why := refused.String(); why != "" {
		c.Why(whyNoTransfer, c.out.Transfer.Successor(), why)
	}
}

// dropTransfer ends a transfer that this node can no longer carry out.
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

// takeOverFrom makes this node lead if the leader of this term has handed over to this very process.
// While this node leads, it ranks above all others: pre-emption does not undo an operator's choice.
func (c *Core) takeOverFrom(m proto.Message, b proto.TakeOver) {
	from := proto.Peer{ID: m.From, Incarnation: b.Incarnation}
	led := proto.Leadership{Term: c.term, Leader: m.From, Incarnation: b.Incarnation}
	switch {
	case b.To != c.cfg.Incarnation:
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

// leadChosen makes this node lead the next term as an operator's choice.
func (c *Core) leadChosen(reason algorithms.Reason) {
	next := max(c.term, c.spent) + 1
	c.Why(whyTake, reason, next)
	c.adopt(next)
	chosen := c.self
	chosen.Attr = proto.ChosenAttr
	c.assume(chosen)
}
