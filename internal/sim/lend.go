package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Leases that a leader lends to a process outside, which neither the leader's death nor
// its leaving stops.

// loan is a lease that a leader lent to a process outside, which we call the borrower.
type loan struct {
	by    *life
	id    proto.NodeID // the node that lent it
	term  proto.Term
	end   time.Duration // true time at which it has ended even by the slowest clock
	until time.Duration // true time at which it has ended by the clock of the node that lent it
	back  time.Duration // true time at which the borrower gives it back; never if it does not
}

// acts reports whether the borrower may still act.
func (l loan) acts(at time.Duration) bool { return at < min(l.end, l.back) }

// lends draws borrowers. Some ask just before something ends the leadership, some ask several
// times.
func (d *drafter) lends() {
	if d.Accurate || d.chance(400) {
		return
	}
	for range 1 + d.IntN(6) {
		f := one(d.dice, (*drafter).lend, (*drafter).lendOften, (*drafter).lendAndEnd, (*drafter).lendAndEnd)(d)
		f.At = d.between(0, d.Heal)
		d.Faults = append(d.Faults, f)
	}
}

func (d *drafter) lend() fault {
	t := target{id: d.id(), leading: d.chance(900)}
	return fault{What: fmt.Sprintf("borrow a lease of %v", t), do: func(c *cluster) { c.borrow(t.in(c)) }}
}

// lendOften draws a borrower that asks the same node for a lease again and again, each time at most
// half a promise later.
func (d *drafter) lendOften() fault {
	t, times := target{id: d.id(), leading: true}, 2+d.IntN(8)
	every := d.between(d.delta, d.Promise/2)
	what := fmt.Sprintf("borrow %d leases of %v, every %v", times, t, every)
	return fault{What: what, do: func(c *cluster) {
		n := t.in(c)
		for i := range times {
			c.later(time.Duration(i)*every, func() { c.borrow(n) })
		}
	}}
}

// lendAndEnd draws a borrower that asks a leader which dies, or is told to leave, a moment later.
func (d *drafter) lendAndEnd() fault {
	t, span := target{id: d.id(), leading: true}, d.between(d.Promise/2, 3*d.Promise)
	after := d.between(0, one(d.dice, 4*d.delta, d.Promise))
	how := one(d.dice, "dies", "dies", "is told to hand over", "is told to resign")
	what := fmt.Sprintf("borrow a lease of %v, which %s %v after", t, how, after)
	return fault{What: what, do: func(c *cluster) {
		n := t.in(c)
		c.borrow(n)
		c.later(after, func() {
			switch how {
			case "dies":
				c.kill(n)
				c.later(span, func() { c.restart(n) })
			case "is told to hand over":
				c.transfer(n, 0)
			default:
				c.operate(n, algorithms.Resign{})
				c.later(span, func() { c.operate(n, algorithms.Campaign{Reason: "back from standing aside"}) })
			}
		})
	}}
}

func (c *cluster) borrow(n *node) {
	if n.life != nil {
		c.trace.note(c.now, "borrow a lease of %d", n.id)
	}
	c.operate(n, algorithms.Lend{})
}

// lent notes that a lease was lent. The borrower counts by a clock of its own, and may give the
// lease back before its end.
func (c *cluster) lent(n *node, was *algorithms.LendEnd) {
	if was == nil || was.Refused != "" {
		return
	}
	l := loan{
		by: n.life, id: n.id, term: n.life.belief.Term,
		end:   c.now + scale(was.For, million, million-maxDriftPPM),
		until: n.clock.when(was.Until),
		back:  never,
	}
	if c.dice.chance(300) {
		l.back = c.now + c.dice.between(0, was.For)
	}
	c.loans = append(c.loans, l)
}

// loansOver returns the time at which the host of the process by takes all leases that it lent in a
// term to be over.
func (c *cluster) loansOver(by *life, term proto.Term) (at time.Duration) {
	for _, l := range c.loans {
		if l.by == by && l.term == term {
			at = max(at, min(l.until, l.back))
		}
	}
	return at
}

func oneBorrower(s *step) string {
	c, lent := s.cluster, s.out.Lent
	lends := lent != nil && lent.Refused == ""
	switch {
	case lends && !s.claims():
		return "lends a lease and does not lead"
	case lends && lent.Until.After(s.out.Leader.Until):
		return fmt.Sprintf("lends for %v more than it leads", lent.Until.Sub(s.out.Leader.Until))
	case !s.claims() || c.lostEntry(s.node.life, s.out.Leader.Term):
		return ""
	}
	c.loans = slices.DeleteFunc(c.loans, func(l loan) bool { return l.by != s.node.life && !l.acts(s.at) })
	for _, l := range c.loans {
		if l.by != s.node.life && !c.lostEntry(l.by, l.term) {
			return fmt.Sprintf("holds term %d while a lease that %d lent in term %d is valid for %v more",
				s.out.Leader.Term, l.id, l.term, min(l.end, l.back)-s.at)
		}
	}
	return ""
}

// lendEnds records, for each process, whether somebody waits for a lease from it.
type lendEnds struct{ asked table[bool] }

func (k *lendEnds) check(s *step) string {
	asked := k.asked.at(s.node.life.number)
	if _, ok := s.ev.(algorithms.Lend); ok {
		*asked = true
	}
	switch {
	case s.out.Lent != nil && !*asked:
		return "lends what nobody asked for"
	case s.out.Lent != nil:
		*asked = false
	case *asked && (s.out.Deadline.IsZero() || !s.claims()):
		return "leaves who asked without an answer"
	}
	return ""
}
