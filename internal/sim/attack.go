package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// The faults of a run with leases attack their rules: they come close to the
// ends of leases and promises, between a vote and what follows from it, and in
// numbers.

// mostPromise is the length of the longest promise, measured in shortest promises.
const mostPromise = 3

// lease draws the voters. Unless the run is without faults, it also draws an attack.
func (d *drafter) lease() {
	some := d.chance(300)
	for id := range d.Nodes {
		if !some || id == d.Nodes-1 || d.chance(700) {
			d.Voters = append(d.Voters, proto.NodeID(id+1))
		}
	}
	d.Promise = d.shortest * one(d.dice, time.Duration(1), 1, mostPromise)
	d.Keep = d.chance(200)
	d.Unproven = one(d.dice, permille(0), 200, 1000)
	d.Proof = one(d.dice, 2*d.delta, 2*d.Promise, 4*d.Promise)
	d.Drain = one(d.dice, 2*d.delta, d.Promise, 3*d.Promise)
	d.Forged = one(d.dice, permille(0), 300)
	d.Brief = d.chance(800)
	d.majorityLives()
	if !d.Accurate {
		d.attack()
	}
}

// majorityLives makes sure that a majority of the voters is alive in the end.
func (d *drafter) majorityLives() {
	lost := 0
	d.StayDead = slices.DeleteFunc(d.StayDead, func(id proto.NodeID) bool {
		if !slices.Contains(d.Voters, id) {
			return false
		}
		lost++
		return 2*lost >= len(d.Voters)
	})
}

// attack draws clocks that are as wrong as is allowed, a network that is good enough to elect a
// leader, and faults that replace those drawn before.
func (d *drafter) attack() {
	d.wrongClocks()
	latest := one(d.dice, d.delta/100, d.delta/2, d.delta*9/10, 2*d.delta)
	d.Weather = weather{
		MinDelay:  latest / one(d.dice, time.Duration(1000), 10, 2),
		MaxDelay:  latest,
		Loss:      one(d.dice, permille(0), 10, 100),
		Duplicate: one(d.dice, permille(0), 50, 300),
		Straggle:  one(d.dice, permille(0), 20, 100),
		Straggler: d.Promise * one(d.dice, time.Duration(1), 3),
	}
	d.Heal = d.shortest * one(d.dice, time.Duration(3), 6, 12)
	d.Faults = d.Faults[:0]
	kinds := []func(*drafter) fault{
		(*drafter).crash, (*drafter).pause, (*drafter).split, (*drafter).isolate,
		(*drafter).cutPair, (*drafter).loseNext, (*drafter).campaign, (*drafter).resign,
		(*drafter).rerank,
		(*drafter).crashSending, (*drafter).crashSending, (*drafter).crashSending,
		(*drafter).stunSending, (*drafter).stunSending, (*drafter).holdBack, (*drafter).holdBack,
		(*drafter).crashOthers, (*drafter).crashOthers, (*drafter).leaveAlone, (*drafter).reconfigure,
	}
	if !d.Store {
		kinds = append(kinds, (*drafter).oldGrants)
	}
	for range 3 + d.IntN(12) {
		f := kinds[d.IntN(len(kinds))](d)
		f.At = d.between(8*d.delta, d.Heal)
		d.Faults = append(d.Faults, f)
	}
	if len(d.Voters) > 1 && d.chance(250) {
		d.StayDead = nil // more may be needed to come back than to elect
		at := d.between(8*d.delta, d.Heal)
		for range one(d.dice, 1, 1, 2, 3) {
			f := d.loseDisk()
			f.At = min(at+d.between(0, d.Promise), d.Heal)
			d.Faults = append(d.Faults, f)
		}
	}
}

// wrongClocks draws one slow clock among fast ones, or any mixture of both.
func (d *drafter) wrongClocks() {
	slow, mixed := d.IntN(d.Nodes), d.chance(500)
	for i := range d.DriftPPM {
		switch {
		case mixed:
			d.DriftPPM[i] = one(d.dice, -maxDriftPPM, maxDriftPPM, d.DriftPPM[i])
		case i == slow:
			d.DriftPPM[i] = -maxDriftPPM
		default:
			d.DriftPPM[i] = maxDriftPPM
		}
	}
}

// leaseKinds lists kinds of messages. An attack interrupts a node that sends such a message, before
// the node has finished what it does.
var leaseKinds = []string{
	"PRE_VOTE", "REQUEST_VOTE", "REQUEST_VOTE", "VOTE", "HEARTBEAT_REPLY",
	"HEARTBEAT", "RELEASE", "RELEASE", "HEARTBEAT",
}

// termSpan draws how long a fault of a lease lasts: much shorter than a promise, about as long, or
// longer.
func (d *drafter) termSpan() time.Duration {
	return one(d.dice,
		d.between(d.delta/10, d.Promise/4),
		d.between(d.Promise-4*d.delta, d.Promise+2*d.delta),
		d.between(d.Promise/4, 2*d.Promise),
	)
}

// crashSending crashes a node between two effects of a Step.
func (d *drafter) crashSending() fault {
	t := d.target()
	w := doom{
		word: one(d.dice, leaseKinds...), after: d.IntN(d.Nodes + 1),
		back: d.between(d.delta/10, d.Promise/2),
	}
	return fault{What: fmt.Sprintf("crash %v %v, for %v", t, w, w.back), do: func(c *cluster) {
		c.killWithin(t.in(c), w)
	}}
}

// stunSending pauses a node just after it sent a message of a lease, so that the answers are old
// when the node wakes up.
func (d *drafter) stunSending() fault {
	t, s := d.target(), stun{word: one(d.dice, leaseKinds...), span: d.termSpan()}
	return fault{What: fmt.Sprintf("pause %v %v", t, s), do: func(c *cluster) {
		c.pauseWithin(t.in(c), s)
	}}
}

// holdBack delays messages, or second copies of messages, by up to three promises.
func (d *drafter) holdBack() fault {
	h := held{
		doomed: doomed{word: one(d.dice, leaseKinds...), left: 1 + d.IntN(4)},
		by:     d.between(0, one(d.dice, d.Promise/2, 3*d.Promise)), again: d.chance(500),
	}
	if d.chance(300) {
		h.to = d.id()
	}
	return fault{What: fmt.Sprintf("hold back %v", h), do: func(c *cluster) { c.holdBack(h) }}
}

// crashOthers restarts all nodes except the leader. The leader meanwhile runs on, is cut off, or is
// paused.
func (d *drafter) crashOthers() fault {
	t, span, how := target{id: d.id(), leading: true}, d.termSpan(), d.IntN(3)
	var back []time.Duration
	for range d.Nodes {
		back = append(back, d.between(d.delta/10, d.Promise/4))
	}
	what := fmt.Sprintf("crash all but %v for %v, it is %s", t, back,
		[]string{"well", fmt.Sprintf("cut off for %v", span), fmt.Sprintf("paused for %v", span)}[how])
	return fault{What: what, do: func(c *cluster) {
		leader := t.in(c)
		switch how {
		case 1:
			c.cutFor(span, append(c.deaf(leader.id), c.mute(leader.id)...), "off the leader")
		case 2:
			c.pause(leader, min(span, c.healAt-c.now))
		}
		for i, n := range c.nodes {
			if n != leader {
				c.kill(n)
				c.later(back[i], func() { c.restart(n) })
			}
		}
	}}
}

// leaveAlone pauses the leader, or cuts it off, until about the end of its lease.
func (d *drafter) leaveAlone() fault {
	t, span, pause := target{id: d.id(), leading: true}, d.termSpan(), d.chance(400)
	if pause {
		return fault{What: fmt.Sprintf("pause %v for %v", t, span), do: func(c *cluster) {
			c.pause(t.in(c), min(span, c.healAt-c.now))
		}}
	}
	return fault{What: fmt.Sprintf("cut off %v for %v", t, span), do: func(c *cluster) {
		id := t.in(c).id
		c.cutFor(span, append(c.deaf(id), c.mute(id)...), fmt.Sprintf("off %d", id))
	}}
}

// loseDisk crashes a voter, which comes back without its disk and crashes up to three times more
// before it may vote. Several voters may have lost their disks at the same time, but enough keep
// theirs to tell each such voter what it may have voted. Some voters keep a term that a nomination
// saved; some get a first term from an operator.
func (d *drafter) loseDisk() fault {
	t, span := d.target(), d.between(d.delta/10, d.Promise/2)
	again, every := d.IntN(4), d.between(d.delta/10, one(d.dice, 4*d.delta, d.Promise))
	left, vouched := proto.Term(d.IntN(3)), d.chance(200)
	what := fmt.Sprintf("%v loses its disk but for term %d, down for %v, crashes %d times more every %v, "+
		"an operator vouches %v", t, left, span, again, every, vouched)
	return fault{What: what, do: func(c *cluster) {
		n, lost := t.in(c), 0
		for _, id := range c.Voters {
			if !c.node(id).saved() {
				lost++
			}
		}
		if !n.saved() || lost >= len(c.Voters)/2 {
			return
		}
		c.loseDisk(n)
		n.disk.Term, n.disk.Reserved = left, left
		if vouched {
			n.first = 1
		}
		for i := range again + 1 {
			c.later(span+time.Duration(i)*every, func() {
				if n.saved() {
					return
				}
				c.kill(n)
				c.restart(n)
			})
		}
	}}
}

// reconfigure restarts the nodes one after the other with another promise.
func (d *drafter) reconfigure() fault {
	promise := d.shortest * one(d.dice, time.Duration(1), 2, mostPromise)
	gap := d.between(0, one(d.dice, d.delta, d.Promise))
	first := d.id()
	what := fmt.Sprintf("restart all from %d on, one every %v, with a promise of %v", first, gap, promise)
	return fault{What: what, do: func(c *cluster) {
		c.Promise = promise
		for i := range c.nodes {
			n := c.nodes[(int(first)-1+i)%len(c.nodes)]
			c.later(time.Duration(i)*gap, func() {
				c.kill(n)
				c.restart(n)
			})
		}
	}}
}
