package nomination

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// How the round of a term ends for a node that takes part in it.

// Taking reports whether this node takes part in a round that has no leader yet.
func (c *Core) Taking() bool { return c.Looking() && c.TimerRuns() }

// Take makes this node, the best of the round, the leader of the term. If it must not lead this term, it
// calls an election of the next term.
func (c *Core) Take(reason algorithms.Reason) {
	if !c.Spent(reason) {
		c.Win(reason)
	}
}

var whySpent = reasons.Kind("spent", "%s, and this term is spent", algorithms.Caused(algorithms.RoundFailed))

// Spent reports whether this node, the best of the round, must not lead this term. In that case it also
// calls an election of the next term.
func (c *Core) Spent(reason algorithms.Reason) bool {
	if c.MayStand() {
		return false
	}
	c.Call(whySpent.Of(reason))
	return true
}

var (
	whyBestDead = reasons.Kind("best-dead", "%d, the best of the round, is dead",
		algorithms.Caused(algorithms.RoundFailed))
	whyBestAside = reasons.Kind("best-aside", "%d, the best of the round, does not stand",
		algorithms.Caused(algorithms.RoundFailed))
)

// CallWithout sees to an election of the next term because best, the best of this term's round,
// cannot win it: see Out.
func (c *Core) CallWithout(best proto.Peer) {
	if c.Dead(best) {
		c.succeed(whyBestDead.Of(best.ID))
		return
	}
	c.Call(whyBestAside.Of(best.ID))
}
