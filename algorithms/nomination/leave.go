package nomination

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyResign = reasons.Kind("resign", "asked to resign")

// resign makes this node step down, hand over, and stand aside from then on.
func (c *Core) resign(to proto.NodeID) {
	c.resigned = true
	c.standAside(whyResign.Of(), to)
}

var (
	whyLeadOn      = reasons.Kind("lead-on", "not eligible: %s -> lead term %d on, do not stand again")
	whyNotEligible = reasons.Kind("not-eligible", "not eligible: %s")
	whyEligible    = reasons.Kind("eligible", "eligible again -> stand when it comes to that")
)

// eligible handles the host's decision that this node may lead, or may not lead.
func (c *Core) eligible(ev algorithms.Eligible) {
	was := c.Aside()
	c.ineligible = ""
	if !ev.OK {
		c.ineligible = cmp.Or(ev.Why, "no reason was given")
	}
	c.self.Ineligible = c.ineligible != ""
	switch {
	case !ev.OK && ev.Keep && c.Leading():
		c.Why(whyLeadOn, c.ineligible, c.term)
	case !ev.OK:
		c.standAside(whyNotEligible.Of(c.ineligible), 0)
	case was && !c.Aside():
		c.Why(whyEligible)
		if c.Looking() {
			c.timers[timerSilence] = zeroTime
		}
		c.considerPreempt()
	}
}

var (
	whyAside    = reasons.Kind("aside", "%s -> stand aside")
	whyStepDown = reasons.Kind("step-down", "%s -> step down, nobody is there to take over")
	whyHandOver = reasons.Kind("hand-over", "%s -> step down, hand over to %d")
)

// standAside ends this node's leadership, or its part in the search for a leader. The order is: first
// the node stops leading, then it tells the successor.
func (c *Core) standAside(reason algorithms.Reason, to proto.NodeID) {
	led := c.Leading()
	c.timers[timerCampaign], c.timers[timerPreempt] = zeroTime, zeroTime
	if c.Looking() {
		c.StopTimer()
		c.round.Reset()
	}
	if !led {
		c.Why(whyAside, reason)
		return
	}
	c.leader = nobody
	c.spend()
	c.timers = [numTimers]time.Time{}
	successor, ok := c.successor(to)
	if !ok {
		c.Why(whyStepDown, reason)
		return
	}
	c.Why(whyHandOver, reason, successor.ID)
	c.Send(successor.ID, TimeoutNow{})
}

var (
	whySuccessorNotEligible = reasons.Kind("successor-not-eligible", "%d is not eligible -> another must take over")
	whySuccessorDead        = reasons.Kind("successor-dead", "%d is not alive -> another must take over")
)

// successor returns the process of the node to, if that process is alive and eligible; otherwise the
// best other process. It returns false if there is none.
func (c *Core) successor(to proto.NodeID) (proto.Peer, bool) {
	if to != 0 {
		p, ok := c.roster.find(to)
		switch {
		case ok && !p.Ineligible:
			return p, true
		case ok:
			c.Why(whySuccessorNotEligible, to)
		default:
			c.Why(whySuccessorDead, to)
		}
	}
	return c.roster.best(0)
}
