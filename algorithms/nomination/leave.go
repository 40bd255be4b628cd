package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyResign = reasons.Kind("resign", "asked to resign")

// resign steps down, hands over, and stands aside from then on.
func (c *Core) resign(to proto.NodeID) {
	c.resigned = true
	c.standAside(whyResign.Of(), to)
}

var (
	whyLeadOn      = reasons.Kind("lead-on", "not eligible: %s -> lead term %d on, do not stand again")
	whyNotEligible = reasons.Kind("not-eligible", "not eligible: %s")
	whyEligible    = reasons.Kind("eligible", "eligible again -> stand when it comes to that")
)

// eligible takes the host's word on whether this node may lead.
func (c *Core) eligible(ev algorithms.Eligible) {
	was := c.Aside()
	c.barred = ""
	if !ev.OK {
		c.barred = ev.Why
		if c.barred == "" {
			c.barred = "no reason was given"
		}
	}
	c.self.Ineligible = c.barred != ""
	switch {
	case !ev.OK && ev.Keep && c.Leading():
		c.Why(whyLeadOn, c.barred, c.term)
	case !ev.OK:
		c.standAside(whyNotEligible.Of(c.barred), 0)
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

// standAside ends what this node does to lead, or as the leader. The order is:
// not leader any more, then the successor is told.
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
	heir, ok := c.heir(to)
	if !ok {
		c.Why(whyStepDown, reason)
		return
	}
	c.Why(whyHandOver, reason, heir.ID)
	c.Send(heir.ID, TimeoutNow{})
}

var (
	whyHeirNotEligible = reasons.Kind("heir-not-eligible", "%d is not eligible -> another must take over")
	whyHeirDead        = reasons.Kind("heir-dead", "%d is not alive -> another must take over")
)

// heir is the wanted successor, or the best one when none is wanted or it is
// not alive, or not eligible.
func (c *Core) heir(to proto.NodeID) (proto.Peer, bool) {
	if to != 0 {
		p, ok := c.roster.find(to)
		switch {
		case ok && !p.Ineligible:
			return p, true
		case ok:
			c.Why(whyHeirNotEligible, to)
		default:
			c.Why(whyHeirDead, to)
		}
	}
	return c.roster.best(0)
}
