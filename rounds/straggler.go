package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// longBehind is how long after others a process that runs may follow: what it was sent may have been lost, and been
// sent again.
const longBehind = 5 * time.Second

// straggler returns why no record of a node follows the winner, and whether it surely never did. It may have done so in
// records that are missing. If its records end before others followed, or soon after, or soon after it woke, it may
// have followed as late, unless its process ended then.
func (r *Round) straggler(p Participant, g *group) (out Straggler, surely bool) {
	out.Node = p.Node
	won, by := r.Winner.At, r.Winner.Node
	if i := r.decidedAt(); won.IsZero() && i >= 0 { // its records are not here: it had won by then
		won, by = r.Steps[i].At, r.Steps[i].Ref.Node
	}
	l := g.current(p.Node)
	if l != nil && !won.IsZero() { // a later process of its node was not there
		m := g.nodes[p.Node]
		l = cmp.Or(m.at(won, g.fix), m.lives[0]) // its log may begin later
	}
	if l == nil {
		out.Reason = "no record of it is here"
		return out, false
	}
	out.Last, out.restarted = l.ref(l.last()), l.next != nil
	until, settled := g.fix.at(l.node, l.until), latest(won, r.ended())
	off := g.apart(p.Node, by)
	last, before := l.before(won.Add(-off), g.fix) // surely, as far as clocks tell
	since := max(last.seq, l.first())
	if r.Winner.Ref.IsZero() || r.Winner.late { // it may have won long before
		since = 1
	}
	sameTerm := r.Winner.late && !l.tookPartBefore(r.Term) // an earlier process of the node may have followed
	woke, wrote := l.after(settled, g.fix)                 // it may have slept until then
	rival, whole := l.followedIn(r.Term), (before || g.isFirst(l)) && l.whole(since) && !sameTerm
	switch {
	case off == unbounded:
		out.Reason = "no messages compare its clock with the others', and its records may end before"
	case !won.IsZero() && (!wrote || whole && until.Sub(g.fix.at(l.node, woke.wall)) < maxTransit ||
		(l.next == nil || g.lacksEnd(l)) && until.Sub(settled) < max(longBehind, 2*g.leaseTime)):
		out.Reason = fmt.Sprintf("its records end %s", around(until, won))
	case !whole:
		out.Reason = "records of it are missing that may tell"
	case r.rival(p.Node):
		out.Reason, surely = "it led the term itself", true
	case rival != nil:
		out.Reason, out.Last = fmt.Sprintf("it followed node %d in the term", rival.leader), l.ref(rival.first.seq)
		out.wentOn, surely = l.top.round <= r.Term, true
	case l.top.round > r.Term:
		out.Reason, surely = fmt.Sprintf("its next records are of term %d and later", l.nextTerm(r.Term)), true
	default:
		out.Reason, out.wentOn, surely = "it wrote on, and never named the winner", true, true
	}
	return out, surely
}

// tookPartBefore reports whether the process wrote of a term before the given one.
func (l *life) tookPartBefore(term uint64) bool {
	return slices.ContainsFunc(l.sorted(), func(m mark) bool { return 0 < m.round && m.round < term })
}

// followedIn returns the belief by which the process followed a node in the term, nil if it followed none.
func (l *life) followedIn(term uint64) *belief {
	beliefs := l.allBeliefs()
	i := slices.IndexFunc(beliefs, func(b belief) bool {
		return b.term == term && b.leader != l.node && b.leader != 0
	})
	if i < 0 {
		return nil
	}
	return &beliefs[i]
}

func (r *Round) rival(id uint64) bool {
	for _, w := range r.Rivals {
		if w.Node == id {
			return true
		}
	}
	return false
}

// nextTerm returns the first term above the given one in which the process wrote.
func (l *life) nextTerm(term uint64) uint64 {
	for _, m := range l.sorted() {
		if m.round > term {
			return m.round
		}
	}
	return 0
}

// around says how long the time t was before or after the time won, when the winner won.
func around(t, won time.Time) string {
	if t.Before(won) {
		return fmt.Sprintf("%v before the winner had won", Span(won.Sub(t)))
	}
	return fmt.Sprintf("%v after the winner had won", Span(t.Sub(won)))
}
