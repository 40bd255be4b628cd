package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// The faults of a run with a store attack the rules of leadership by an entry in it: what happens to
// requests, to entries, and to processes that wait for an answer.

// store draws how the store behaves and, unless the run is without faults, an attack.
func (d *drafter) store() {
	d.Store, d.Queues = true, d.chance(500)
	d.Promise = d.shortest * one(d.dice, time.Duration(1), 1, mostPromise)
	d.Keep = d.chance(150)
	d.Unproven = one(d.dice, permille(0), 200, 1000)
	d.Proof = one(d.dice, 2*d.delta, d.Promise, 3*d.Promise)
	d.Drain = one(d.dice, 2*d.delta, d.Promise, 3*d.Promise)
	d.Brief = d.chance(800)
	d.storePlan.Way = d.delta / 4
	d.Skip = one(d.dice, int64(0), 3, 1<<22)
	d.First = one(d.dice, proto.Term(0), 0, 7, 4*proto.MaxTermJump)
	if d.Accurate {
		return
	}
	d.Way = one(d.dice, d.delta/10, d.delta, d.Promise/4)
	d.Lost = one(d.dice, permille(0), 50, 200)
	d.Straggle = one(d.dice, permille(0), 50, 300)
	d.Silent = one(d.dice, permille(0), 500)
	d.Stale = one(d.dice, permille(0), 300)
	d.Untold = one(d.dice, permille(0), 300, 1000)
	d.Lag = one(d.dice, 0, d.delta, d.Promise)
	d.attack()
	d.storePlan.DriftPPM = one(d.dice, int64(-maxDriftPPM), 0, maxDriftPPM)
	kinds := []func(*drafter) fault{
		(*drafter).goAway, (*drafter).cutFromStore, (*drafter).cutFromStore, (*drafter).trapAsking,
		(*drafter).trapAsking, (*drafter).trapAsking, (*drafter).trapAsking, (*drafter).revoke, (*drafter).stranger,
		(*drafter).stranger, (*drafter).falseHints,
	}
	if d.chance(200) {
		kinds = append(kinds, (*drafter).forgetEntries, (*drafter).forgetEntries, (*drafter).setBack)
	}
	for range 2 + d.IntN(8) {
		f := kinds[d.IntN(len(kinds))](d)
		f.At = d.between(8*d.delta, d.Heal)
		d.Faults = append(d.Faults, f)
	}
}

func (d *drafter) goAway() fault {
	span := d.termSpan()
	return fault{What: fmt.Sprintf("the store answers nobody for %v", span), do: func(c *cluster) {
		c.shelf.away++
		c.later(span, func() { c.shelf.away-- })
	}}
}

func (d *drafter) cutFromStore() fault {
	t, span, all := d.target(), d.termSpan(), d.chance(300)
	what := fmt.Sprintf("cut %v from the store for %v", t, span)
	if all {
		what = fmt.Sprintf("cut all but %v from the store for %v", t, span)
	}
	return fault{What: what, do: func(c *cluster) {
		chosen := t.in(c)
		for _, n := range c.nodes {
			if (n == chosen) != all {
				c.shelf.cut[n.id]++
				c.later(span, func() { c.shelf.cut[n.id]-- })
			}
		}
	}}
}

// trap is a plan to crash or pause a process shortly after it begins to ask that of the store.
type trap struct {
	verb  algorithms.AskVerb
	after time.Duration
	span  time.Duration
	pause bool
}

func (t trap) String() string {
	how := "crash"
	if t.pause {
		how = "pause"
	}
	return fmt.Sprintf("%s %v after it next asks to %s, for %v", how, t.after, t.verb, t.span)
}

func (d *drafter) trapAsking() fault {
	t := d.target()
	s := trap{
		verb: one(d.dice, algorithms.AskStand, algorithms.AskStand, algorithms.AskRenew, algorithms.AskRenew,
			algorithms.AskLeave, algorithms.AskRemove, algorithms.AskLook),
		after: d.between(0, 2*d.Way), span: d.termSpan(), pause: d.chance(500),
	}
	return fault{What: fmt.Sprintf("%v: %v", t, s), do: func(c *cluster) {
		if n := t.in(c); n.life != nil {
			n.life.trap = &s
		}
	}}
}

// spring lets what is planned for a process that asks this of the store happen.
func (c *cluster) spring(n *node, verb algorithms.AskVerb) {
	l := n.life
	t := l.trap
	if t == nil || t.verb != verb {
		return
	}
	l.trap = nil
	c.later(t.after, func() {
		switch {
		case n.life != l:
		case t.pause:
			c.pause(n, min(t.span, c.healAt-c.now))
		default:
			c.kill(n)
			c.later(t.span, func() { c.restart(n) })
		}
	})
}

// revoke lets an operator remove the first entry. Its node leads on until the store tells it.
func (d *drafter) revoke() fault {
	return fault{What: "an operator removes the first entry", do: func(c *cluster) {
		c.trace.note(c.now, "the first entry is removed by hand")
		c.takeAway(func(i int, _ kept) bool { return i == 0 })
	}}
}

// stranger lets a candidate of another program stand, by the same rules, and lead for a while.
func (d *drafter) stranger() fault {
	span, patience := d.termSpan(), d.termSpan()
	return fault{What: fmt.Sprintf("a stranger stands for %v, and leads for %v", patience, span), do: func(c *cluster) {
		c.strangerStands(c.now+patience, span)
	}}
}

// strangerStands makes a stranger try until the given time, and then lead for the span.
func (c *cluster) strangerStands(until, span time.Duration) {
	h := c.shelf
	if c.healed || c.now > until {
		return
	}
	if len(h.entries) > 0 && !c.Queues || h.away > 0 {
		c.later(c.delta, func() { c.strangerStands(until, span) })
		return
	}
	k := c.entry(nil, algorithms.Entry{Foreign: "a stranger"})
	c.trace.note(c.now, "a stranger stands with token %d", k.Token)
	k.ends = never
	was := h.entries
	h.entries = append(append([]kept(nil), was...), k)
	c.changed(was)
	c.later(span, func() { c.takeAway(func(_ int, other kept) bool { return other.Key == k.Key }) })
}

func (d *drafter) falseHints() fault {
	t, times, every := d.target(), 1+d.IntN(10), d.between(0, d.delta)
	return fault{What: fmt.Sprintf("%d false hints to %v, every %v", times, t, every), do: func(c *cluster) {
		n := t.in(c)
		for i := range times {
			c.later(time.Duration(i)*every, func() { c.hint(n) })
		}
	}}
}

// forgetEntries is a failover to a replica that has not heard of the entries. It has the tokens.
func (d *drafter) forgetEntries() fault {
	return fault{What: "the store forgets all entries", do: func(c *cluster) {
		c.trace.note(c.now, "the store forgets all entries")
		c.takeAway(func(int, kept) bool { return true })
	}}
}

// setBack is a backup that is put in place: the tokens go back, too.
func (d *drafter) setBack() fault {
	return fault{What: "the store is set back to its beginning", do: func(c *cluster) {
		c.trace.note(c.now, "the store is set back")
		c.shelf.setBack = true
		c.takeAway(func(int, kept) bool { return true })
		c.shelf.tokens = 0
	}}
}
