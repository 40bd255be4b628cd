package rounds

import (
	"slices"
	"time"
)

// downAfter returns when the node ran no process after this one, until its next one that wrote records began: also
// after those ended that wrote none. A proof that a process ended which wrote records is about none of these.
func (g *group) downAfter(l *life, e *LifeEvent, next time.Time) (all []absence) {
	for {
		a := g.downSince(l, e, next)
		all = append(all, a)
		if at := g.refusedAfter(l.node, a.from); a.ended && a.how != refusing && a.covers(at, at) {
			all[len(all)-1].until = at
			how := refusing
			if a.how == unseen { // the one after that may have run
				how = hasRefused
			}
			all = append(all, absence{l.node, at, a.until, how, a.ref, a.how != unseen})
		}
		if a.until.IsZero() || a.until.Equal(next) {
			return all
		}
		drops := g.dropsSince(l.node, a.until)
		i := slices.IndexFunc(drops, func(d *drop) bool {
			return EndedProcess(d.Evidence, l.node) && g.nodes[l.node].byIncarnation[d.incarnation] == nil
		})
		if i < 0 || !next.IsZero() && !drops[i].At.Before(next) {
			return all
		}
		d := drops[i]
		e = &LifeEvent{
			Kind: Ended, At: d.At, Known: PeersSaw, Ref: d.Ref, left: saysLeft(d.Evidence, l.node), proof: d.proven(),
		}
	}
}

// downSince returns since when the node ran no process, after its process ended, and until when.
func (g *group) downSince(l *life, e *LifeEvent, next time.Time) absence {
	a := absence{id: l.node, from: e.At, how: dead, ref: e.Ref, ended: e.Known != Inferred}
	if e.left {
		a.how = "stopped"
	}
	if at := g.refusedAfter(l.node, e.At); !at.IsZero() && at.Sub(e.At) <= maxTransit {
		a.how = refusing
	}
	if e.Known == Inferred {
		a.from, a.how = g.stoppedBy(l, next), unheard
	}
	var known bool
	a.until, known = g.cameBack(l, e, a.from)
	hidden := !l.debug && (e.proof || a.how == dead && !g.missedSince(&a, e))
	if a.ended && (!known || l.next == nil && (hidden || g.alone(&a))) {
		a.how = unseen
	}
	return a
}

// alone reports whether no other node ran, by its records, for a time in which the node was away and its log had ended:
// who ran before or after that would not have seen the next process of the node, whose records are missing.
func (g *group) alone(a *absence) bool {
	var others []*life
	for id, m := range g.nodes {
		if id != a.id {
			others = append(others, m.lives...)
		}
	}
	began := func(l *life) time.Time { return g.fix.at(l.node, l.from) }
	slices.SortFunc(others, func(l, other *life) int { return began(l).Compare(began(other)) })
	seen := latest(a.from, g.logEnd(a.id))
	for _, l := range others {
		if began(l).Sub(seen) > maxTransit {
			break
		}
		if seen = latest(seen, g.lastLine(l)); l.next == nil && g.goodbye(l) == nil {
			seen = latest(seen, g.logEnd(l.node))
		}
	}
	return earliest(a.until, g.logsEnd).Sub(seen) > maxTransit
}

// cameBack returns when the node of a process that had ended by the time from, as the event says, was there again, and
// whether it was away until then: its next process tells its start, and nothing tells of one before.
// Otherwise that may have run before.
func (g *group) cameBack(l *life, ended *LifeEvent, from time.Time) (at time.Time, known bool) {
	at = g.seenAgain(l.node, from)
	if l.next == nil {
		return at, at.IsZero()
	}
	next, told := g.nextBegan(l)
	between := !at.IsZero() && at.Add(g.fix.error()).Before(next)
	if told && !between && !g.mayHaveRun(l.node, from, next) && !g.cutUntil(next, ended) {
		return next, true
	}
	return earliest(at, next), false
}

// nextBegan returns when the next process of the node began. If that does not tell its start, it returns when it wrote
// its first record, or another node read its first message. It returns zero if there is none.
func (g *group) nextBegan(l *life) (at time.Time, told bool) {
	if l.next == nil {
		return at, false
	}
	if at, _ = g.beginning(l.next); !at.IsZero() {
		return at, true
	}
	return earliest(g.fix.at(l.node, l.next.from), g.named[l.next.incarnation]), false
}

// mayHaveRun reports whether a process of the node that is in no log may have run between two times: its end was proven
// after the first time, by a process that may have known it before the second one; or see linkedBetween.
func (g *group) mayHaveRun(id uint64, from, until time.Time) bool {
	return g.linkedBetween(id, from, until) || slices.ContainsFunc(g.unlogged[id], func(d *drop) bool {
		by := g.nodes[d.Node].byIncarnation[d.Ref.Incarnation]
		return d.At.After(from) && !g.fix.at(by.node, by.from).After(until.Add(maxTransit))
	})
}

// cutUntil reports whether records are missing of the process that saw another one end, between that and the time t:
// it may have seen the next one in them.
func (g *group) cutUntil(t time.Time, ended *LifeEvent) bool {
	m := g.nodes[ended.Ref.Node]
	if ended.Known != PeersSaw || m == nil || m.byIncarnation[ended.Ref.Incarnation] == nil {
		return false
	}
	by := m.byIncarnation[ended.Ref.Incarnation]
	last := by.last()
	if after, ok := by.after(t, g.fix); ok {
		last = after.seq
	}
	return by.wholeFrom(ended.Ref.Seq) < last
}

// linkedBetween reports whether a process of another node, which began after the one time, had a link to the node that
// closed before the other time: a process that wrote nothing ran in between.
func (g *group) linkedBetween(id uint64, from, until time.Time) bool {
	for _, d := range g.dropsSince(id, from) {
		if !d.At.Before(until) {
			break
		}
		m := g.nodes[d.Node]
		if m == nil || m.byIncarnation[d.Ref.Incarnation] == nil || !names(d.Evidence, "link-closed", id) {
			continue
		}
		by := m.byIncarnation[d.Ref.Incarnation]
		before := m.at(g.fix.at(by.node, by.from).Add(-1), g.fix)
		if before != nil && before != by && g.fix.at(by.node, before.until).After(from.Add(g.fix.error())) {
			return true
		}
	}
	return false
}

// missedSince reports whether the process that saw another one end was there since, and asked that node for its vote,
// in vain, or whether the logs end about then. Otherwise the next process of the node may run, cut off or seen by those
// alone that began later, and have written nothing.
func (g *group) missedSince(a *absence, ended *LifeEvent) bool {
	by := ended.Ref
	asked := func(q asking) bool {
		return q.ref.Node == by.Node && q.ref.Incarnation == by.Incarnation && q.at.After(ended.At)
	}
	return g.watched(a, by) && (g.logsEnd.Sub(ended.At) <= together || slices.ContainsFunc(g.asked[a.id], asked))
}

// stoppedBy returns since when the process wrote nothing, and was missed, before the next one of its node began. At
// level info it may have sent messages later that no record shows.
func (g *group) stoppedBy(l *life, next time.Time) time.Time {
	last := g.fix.at(l.node, l.until)
	if l.debug {
		return last
	}
	since := next
	for _, d := range g.dropsSince(l.node, last) {
		since = earliest(since, d.At)
		break
	}
	if asked, ok := g.firstAsked(l.node, last); ok {
		since = earliest(since, asked.at)
	}
	for _, sent := range g.orphans[l.node] {
		if sent.After(since) && sent.Before(next) {
			since = sent
		}
	}
	return since
}
