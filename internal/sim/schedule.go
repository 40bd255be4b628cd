package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// fault is an event that disturbs the cluster at a given time.
type fault struct {
	At   time.Duration
	What string
	do   func(*cluster)
}

// String returns the fault with its time in seconds.
func (f fault) String() string { return fmt.Sprintf("%.3f %s", f.At.Seconds(), f.What) }

// target is the node that a fault hits: a given node, or the node that leads at that time.
type target struct {
	id      proto.NodeID
	leading bool
}

func (t target) String() string {
	if t.leading {
		return fmt.Sprintf("the leader, or else %d", t.id)
	}
	return t.id.String()
}

func (t target) in(c *cluster) *node {
	if leader := c.leader(); t.leading && leader != nil {
		return leader
	}
	return c.node(t.id)
}

// bootDeltas is how long, in Deltas, a cluster has for its first election.
const bootDeltas = 60

// schedule draws when everything heals, and the faults before that.
func (d *drafter) schedule() {
	d.Heal = d.delta * one(d.dice, time.Duration(30), 100, 300)
	first := time.Duration(0)
	if d.Accurate {
		first = bootDeltas * d.delta // nobody calls an election before there was one
		d.Heal += first
	}
	kinds := d.kinds()
	for range d.IntN(13) {
		f := kinds[d.IntN(len(kinds))](d)
		f.At = d.between(first, d.Heal)
		d.Faults = append(d.Faults, f)
	}
	if d.Accurate || d.chance(600) {
		return
	}
	for id := range d.Nodes - 1 { // the last node lives, so that one does
		if d.chance(400) {
			d.StayDead = append(d.StayDead, proto.NodeID(id+1))
		}
	}
}

// kinds returns the kinds of faults that this run may have. Likely kinds occur more than once.
func (d *drafter) kinds() []func(*drafter) fault {
	if d.Accurate {
		return []func(*drafter) fault{(*drafter).campaign}
	}
	kinds := []func(*drafter) fault{
		(*drafter).crash, (*drafter).crash, (*drafter).crash,
		(*drafter).crashWithin, (*drafter).crashWithin, (*drafter).crashWithin,
		(*drafter).pause, (*drafter).split, (*drafter).isolate, (*drafter).cutPair,
		(*drafter).loseNext, (*drafter).campaign, (*drafter).resign, (*drafter).rerank,
	}
	if d.Detector == Wrong {
		kinds = append(kinds, (*drafter).suspect, (*drafter).suspect, (*drafter).miss)
	}
	return kinds
}

func (d *drafter) target() target { return target{id: d.id(), leading: d.chance(500)} }

func (d *drafter) id() proto.NodeID { return proto.NodeID(1 + d.IntN(d.Nodes)) }

// span draws how long a fault lasts.
func (d *drafter) span() time.Duration {
	return d.between(d.delta/10, d.delta*one(d.dice, time.Duration(3), 10, 50))
}

func (d *drafter) crash() fault {
	t, span := d.target(), d.span()
	return fault{What: fmt.Sprintf("crash %v for %v", t, span), do: func(c *cluster) {
		n := t.in(c)
		c.kill(n)
		c.later(span, func() { c.restart(n) })
	}}
}

func (d *drafter) crashWithin() fault {
	t, span := d.target(), d.span()
	w := doom{after: d.IntN(d.Nodes + 1)}
	return fault{What: fmt.Sprintf("crash %v %v, for %v", t, w, span), do: func(c *cluster) {
		n := t.in(c)
		c.killWithin(n, w)
		c.later(span, func() { c.restart(n) })
	}}
}

func (d *drafter) pause() fault {
	t, span := d.target(), d.span()
	return fault{What: fmt.Sprintf("pause %v for %v", t, span), do: func(c *cluster) {
		c.pause(t.in(c), min(span, c.healAt-c.now))
	}}
}

func (d *drafter) split() fault {
	span := d.span()
	side := make([]int, d.Nodes+1)
	var off []proto.NodeID
	for id := 1; id <= d.Nodes; id++ {
		if side[id] = d.IntN(2); side[id] == 1 {
			off = append(off, proto.NodeID(id))
		}
	}
	what := "off " + join(off)
	return fault{What: fmt.Sprintf("cut %s for %v", what, span), do: func(c *cluster) {
		c.cutFor(span, c.split(func(id proto.NodeID) int { return side[id] }), what)
	}}
}

func (d *drafter) isolate() fault {
	t, span, way := d.target(), d.span(), one(d.dice, "off", "into", "out of")
	return fault{What: fmt.Sprintf("cut %s %v for %v", way, t, span), do: func(c *cluster) {
		id := t.in(c).id
		var links []link
		if way != "out of" {
			links = append(links, c.deaf(id)...)
		}
		if way != "into" {
			links = append(links, c.mute(id)...)
		}
		c.cutFor(span, links, fmt.Sprintf("%s %d", way, id))
	}}
}

func (d *drafter) cutPair() fault {
	from, to, span := d.id(), d.id(), d.span()
	links, arrow := oneWay(from, to), ">"
	if d.chance(500) {
		links, arrow = bothWays(from, to), "-"
	}
	what := fmt.Sprintf("%d%s%d", from, arrow, to)
	return fault{What: fmt.Sprintf("cut %s for %v", what, span), do: func(c *cluster) {
		c.cutFor(span, links, what)
	}}
}

func (d *drafter) loseNext() fault {
	t, left := d.target(), 1+d.IntN(2*d.Nodes)
	return fault{What: fmt.Sprintf("lose the next %d from %v", left, t), do: func(c *cluster) {
		c.lose(doomed{from: t.in(c).id, left: left})
	}}
}

func (d *drafter) campaign() fault {
	t := d.target()
	return fault{What: fmt.Sprintf("campaign at %v", t), do: func(c *cluster) {
		c.operate(t.in(c), algorithms.Campaign{Reason: "the operator asked"})
	}}
}

func (d *drafter) resign() fault {
	t, span := d.target(), d.span()
	var successor proto.NodeID
	to := "the best"
	if d.chance(500) {
		successor = d.id()
		to = successor.String()
	}
	what := fmt.Sprintf("resign at %v, hand over to %s, campaign after %v", t, to, span)
	return fault{What: what, do: func(c *cluster) {
		n := t.in(c)
		c.giveWay(n, successor, algorithms.Resign{To: successor})
		c.later(span, func() { c.operate(n, algorithms.Campaign{Reason: "back from standing aside"}) })
	}}
}

func (d *drafter) rerank() fault {
	t, attr := d.target(), int64(d.IntN(10))
	return fault{What: fmt.Sprintf("attribute of %v becomes %d", t, attr), do: func(c *cluster) {
		c.rerank(t.in(c), attr)
	}}
}

func (d *drafter) suspect() fault { return d.deceive(suspects) }
func (d *drafter) miss() fault    { return d.deceive(misses) }

// deceive draws a lie about a node for one detector, or for all of them.
func (d *drafter) deceive(l lie) fault {
	t, span, only := d.target(), d.span(), proto.NodeID(d.IntN(d.Nodes+1))
	if d.chance(200) {
		span = d.Heal
	}
	who := "all"
	if only != 0 {
		who = only.String()
	}
	what := fmt.Sprintf("%s %v %v for %v", who, l, t, span)
	return fault{What: what, do: func(c *cluster) {
		victim := t.in(c)
		for _, n := range c.nodes {
			if n != victim && (only == 0 || only == n.id) {
				c.lieTo(n, victim, l)
				c.later(span, func() { c.truth(n, victim) })
			}
		}
	}}
}

// later calls do after the time span, unless everything has healed by then.
func (c *cluster) later(span time.Duration, do func()) {
	c.queue.plan(c.now+span, func() {
		if !c.healed {
			do()
		}
	})
}

// cutFor blocks links for a while.
func (c *cluster) cutFor(span time.Duration, links []link, what string) {
	c.cut(links, what)
	c.later(span, func() { c.uncut(links, what) })
}
