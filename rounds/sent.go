package rounds

import (
	"slices"
	"time"
)

// lacksSends reports whether records may be missing that sent messages of the election. Each is here only where no
// record is known to be missing of any log, all logs go on until the last one followed, and the records tell that, and
// how the winner won and saw who lives. Nor is the receipt of a message missing that may have been answered, or the
// record that sent one which was received.
func (r *Round) lacksSends(entries []*entry, g *group) bool {
	if w := r.Winner; w != nil && (w.untold() || !w.viewed) || len(r.Untold) > 0 || len(entries) == 0 {
		return true
	}
	until := r.From
	for _, e := range entries[:max(r.Aftermath, 1)] {
		until = latest(until, g.fix.at(e.Ref.Node, e.Wall))
	}
	by := entries[0].Ref.Node
	if end := g.logsEndBy(by).Add(-maxTransit); r.State != Decided { // it may have been called again, until the end
		if len(r.Initiators) == 0 || until.After(end) {
			return true
		}
		until = end
	}
	return g.lacksSome() || slices.ContainsFunc(g.everyNode(), func(id uint64) bool {
		return g.endsBefore(g.nodes[id], until, by)
	}) || slices.ContainsFunc(r.Messages, func(m Message) bool { // late answers count, too
		return r.unsent(&m) && !m.quiet || m.Delivery == Unseen && m.Counted ||
			r.State != Decided && slices.Contains(askKinds, m.Kind) && r.mayBeAnswered(&m, g)
	})
}

// mayBeAnswered reports whether a question that never arrived, as it seems, may have been held up, and answered after
// the log of its receiver ends.
func (r *Round) mayBeAnswered(m *Message, g *group) bool {
	if m.Delivery == ToGone && m.SendStep >= 0 {
		return g.lacksBetween(m.To, r.Steps[m.SendStep].At, g.logsEnd)
	}
	return m.Delivery == Lost
}

// unsent reports whether no record that is kept sent the message, which was received as long as the election went on.
func (r *Round) unsent(m *Message) bool {
	return m.Delivery == Unsent && m.ReceiveStep < max(r.Aftermath, 1)
}

// noteQuiet notes which messages were received that a record sent which is not kept, since it gives no reason, by the
// process that the receipt names.
func (r *Round) noteQuiet(g *group) {
	for i := range r.Messages {
		m := &r.Messages[i]
		if from := g.nodes[m.From]; m.Delivery == Unsent && m.sender != "" && from != nil {
			l := from.byIncarnation[m.sender]
			m.quiet = l != nil && l.sentQuietly(numberOf(m.ID)) && slices.Contains(l.quietKinds, m.Kind)
			r.Quiet = r.Quiet || m.quiet && r.unsent(m)
		}
	}
}

// lacksSome reports what lacksAny does of any node, or whether one has no log. It keeps that for all rounds.
func (g *group) lacksSome() bool {
	if g.lacks == nil {
		g.lacks = new(slices.ContainsFunc(g.everyNode(), func(id uint64) bool {
			m := g.nodes[id]
			return m == nil || m.hidden || len(m.lives) == 0 || g.lacksAny(m)
		}))
	}
	return *g.lacks
}

// lacksAny reports whether any record of the node is known to be missing, or may be before its log begins.
func (g *group) lacksAny(m *member) bool {
	first := m.lives[0]
	return !first.started || first.first() > 1 || g.seenBefore(m) || slices.ContainsFunc(m.lives, func(l *life) bool {
		return l.missing() > 0 || l.next != nil && g.lacksEnd(l)
	})
}

// endsBefore reports whether the log of a node may end before a time by the clock of the node by, and its process had
// not ended, or another one ran since.
func (g *group) endsBefore(m *member, until time.Time, by uint64) bool {
	last := m.lives[len(m.lives)-1]
	off, wrote := g.apart(last.node, by), g.fix.at(last.node, last.until)
	switch {
	case off == unbounded, g.ranAgain(last):
		return true
	case g.goodbye(last) != nil, !wrote.Add(-off).Before(until):
		return false
	}
	soon := wrote.Add(together)
	crashed := slices.ContainsFunc(g.events(last), func(e LifeEvent) bool {
		return e.Kind == Ended && !e.At.After(soon)
	})
	return g.holed() || g.sentUnseen(last) || !crashed && soon.Before(g.logsEndBy(last.node))
}
