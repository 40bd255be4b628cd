package rounds

import (
	"slices"
	"time"
)

// lacksSends reports whether records are missing that may have sent messages of the election: those of a node that has
// no log, those in which it was called, or in which the winner won or saw who lives, those of some time in the
// election, that of a message which was received, or the receipt of one that may have been answered.
func (r *Round) lacksSends(entries []*entry, g *group) bool {
	if w := r.Winner; w != nil && (w.untold() || !w.viewed) || len(r.Untold) > 0 || len(entries) == 0 {
		return true
	}
	until := r.From
	for _, e := range entries[:max(r.Aftermath, 1)] {
		until = latest(until, g.fix.at(e.Ref.Node, e.Wall))
	}
	by := entries[0].Ref.Node
	if r.State != Decided && (len(r.Initiators) == 0 || until.Add(maxTransit).After(g.logsEndBy(by))) { // it may go on
		return true
	}
	return slices.ContainsFunc(g.everyNode(), func(id uint64) bool {
		m := g.nodes[id]
		if m == nil || m.hidden || len(m.lives) == 0 || r.lacksRecords(m, by, until, g) {
			return true
		}
		// It may have called one in vain later, or long before: a node does not save the terms that it calls.
		return r.State != Decided && (g.lacksAny(m) || g.mayLackTerm(m, r) || g.beganLate(m, r))
	}) || slices.ContainsFunc(r.Messages, func(m Message) bool { // late answers count, too
		return m.Delivery == Unsent && m.ReceiveStep < max(r.Aftermath, 1) || m.Delivery == Unseen && m.Counted ||
			m.Delivery == Lost && r.State != Decided && slices.Contains(askKinds, m.Kind)
	})
}

// lacksAny reports whether any record of the node is known to be missing, or may be before its log begins.
func (g *group) lacksAny(m *member) bool {
	first := m.lives[0]
	return !first.started || first.first() > 1 || g.seenBefore(m) || slices.ContainsFunc(m.lives, func(l *life) bool {
		return l.missing() > 0 || l.next != nil && g.lacksEnd(l)
	})
}

// calledSince returns since when the term of the round may have been called, in vain at first: under a lease, since the
// one before it was led.
func (g *group) calledSince(r *Round) time.Time {
	since, before := r.From, g.byTerm[r.Term-1]
	if leased(g.guarantee) && len(before) > 0 {
		since = earliest(since, before[0].From)
	}
	return since
}

// lacksRecords reports whether records of the node may be missing from when the round may have been called until then,
// by the clock of the node by.
func (r *Round) lacksRecords(m *member, by uint64, until time.Time, g *group) bool {
	first, last := m.lives[0], m.lives[len(m.lives)-1]
	off, called := g.apart(first.node, by), g.calledSince(r)
	within := func(since, to time.Time) bool {
		answered := until.Add(together)
		return off == unbounded || !g.fix.at(first.node, since).Add(-off).After(answered) &&
			!g.fix.at(first.node, to).Add(off).Before(called)
	}
	cut := !first.started || first.first() > 1 || g.seenBefore(m)
	if cut && (first.began()+1 >= r.Term || within(time.Time{}, first.from)) { // it may have asked for its next term
		return true
	}
	for _, l := range m.lives {
		if marks := l.sorted(); slices.ContainsFunc(l.seen[1:], func(s span) bool {
			i, found := slices.BinarySearchFunc(marks, s.first, numberOfMark)
			return !found || i == 0 || within(marks[i-1].wall, marks[i].wall)
		}) {
			return true
		}
		if next := l.next; next != nil && within(l.until, next.from) && g.lacksEnd(l) {
			return true
		}
	}
	if off == unbounded {
		return true
	}
	wrote := g.fix.at(last.node, last.until)
	if g.goodbye(last) != nil || !wrote.Add(-off).Before(until) {
		return false
	}
	soon := wrote.Add(together)
	crashed := slices.ContainsFunc(g.events(last), func(e LifeEvent) bool {
		return e.Kind == Ended && !e.At.After(soon)
	})
	return g.holed() || g.sentUnseen(last) || !crashed && soon.Before(g.logsEndBy(last.node))
}
