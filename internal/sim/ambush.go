package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// An ambush is an attack of several moves against one rule. Faults that are
// drawn one by one hardly ever test that rule.

// oldGrants attacks the start of a lease. The promises of one renewal reach the leader only when
// the next renewal is due, and the next renewal reaches no voter. If the lease began when the
// answers came, and not before the question left, it would outlast the promises by almost a
// quarter.
func (d *drafter) oldGrants() fault {
	t, n := target{id: d.id(), leading: true}, d.Nodes
	by := d.between(d.Promise/8, d.Promise/4-d.delta/2)
	silent, span := d.Promise/4-d.delta/10, d.between(d.Promise, 2*d.Promise)
	what := fmt.Sprintf("promises to %v take %v longer, it is cut off after %v for %v", t, by, silent, span)
	return fault{What: what, do: func(c *cluster) {
		id := t.in(c).id
		c.holdBack(held{doomed: doomed{word: "HEARTBEAT_REPLY", to: id, left: 2 * n}, by: by})
		c.later(silent, func() { c.cutFor(span, c.mute(id), fmt.Sprintf("out of %d", id)) })
	}}
}

// forgottenHolder attacks the answers to a voter that lost its disk. A bare majority, cut off from
// the rest, elects a leader. One voter of this majority loses its disk and comes back; the others
// of the majority, the leader included, tell it what it voted, and hang as soon as they have. Of
// the nodes that still run, only this voter can know the leader, and only from these answers.
func (d *drafter) forgottenHolder() {
	order := slices.Clone(d.Voters)
	d.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	knowing := order[:len(order)/2+1]
	d.Promise = d.shortest
	d.Starts = make([]time.Duration, d.Nodes)
	d.StayDead, d.Unproven = nil, 1000
	d.Lies, d.Relapse = 0, 0
	elect, back := 4*d.Promise, d.between(d.delta/10, d.Promise/2)
	d.Heal = elect + 8*d.Promise
	d.Weather.MaxDelay = min(d.Weather.MaxDelay, d.delta/2)
	d.Weather.MinDelay = min(d.Weather.MinDelay, d.Weather.MaxDelay)
	d.Weather.Loss, d.Weather.Straggle = 0, 0
	among := func(id proto.NodeID) int { return map[bool]int{true: 1}[slices.Contains(knowing, id)] }
	what := fmt.Sprintf("only %s know the leader; after %v another of them loses its disk, down for %v, "+
		"and they hang once they told it", join(knowing), elect, back)
	early := 8 * d.delta // all know by then that none ever voted, and nobody stands yet
	d.Faults = []fault{{At: early, What: what, do: func(c *cluster) {
		walls := c.split(among)
		c.cut(walls, "off "+join(knowing))
		c.later(elect, func() { c.forget(knowing, walls, back) })
	}}}
}

// forget does the second part of forgottenHolder: one voter loses its disk, and the others that
// know the leader hang once they have told that voter.
func (c *cluster) forget(knowing []proto.NodeID, walls []link, back time.Duration) {
	leader := c.leader()
	if leader == nil || !slices.Contains(knowing, leader.id) {
		return
	}
	c.cut(slices.DeleteFunc(slices.Clone(walls), func(l link) bool {
		return l.from != leader.id && l.to != leader.id
	}), fmt.Sprintf("off %d", leader.id))
	c.uncut(walls, "off "+join(knowing))
	knower := slices.IndexFunc(knowing, func(id proto.NodeID) bool { return id != leader.id })
	for i, id := range knowing {
		if i != knower {
			c.pauseWithin(c.node(id), stun{word: "VOTER_STATE", span: c.healAt - c.now})
		}
	}
	lost := c.node(knowing[knower])
	c.loseDisk(lost)
	c.later(back, func() { c.restart(lost) })
}
