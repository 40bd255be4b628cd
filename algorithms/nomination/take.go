package nomination

import "github.com/ringleader-dev/ringleader/proto"

// How the round of a term ends for a node that takes part in it.

// Taking reports whether this node takes part in a round that has brought no leader yet.
func (c *Core) Taking() bool { return c.Looking() && c.TimerRuns() }

// Take makes this node, the best of the round, the leader of the term; or calls the next
// one if it must not stand in this one.
func (c *Core) Take(reason string) {
	if !c.Spent(reason) {
		c.Win(reason)
	}
}

// Spent reports whether this node, the best of the round, must not stand in the term. It
// then calls the next one.
func (c *Core) Spent(reason string) bool {
	if c.MayStand() {
		return false
	}
	c.Call(reason + ", and this term is spent")
	return true
}

// CallWithout calls an election of the next term since the best of this one's round
// cannot win it, see Out.
func (c *Core) CallWithout(best proto.Peer) {
	if c.Dead(best) {
		c.Call(best.ID.String() + ", the best of the round, is dead")
		return
	}
	c.Call(best.ID.String() + ", the best of the round, does not stand")
}
