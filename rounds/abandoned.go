package rounds

import (
	"slices"
	"time"
)

// abandoned returns when the leader had lost the majority of the voters, since its lease was not renewed: those that
// still believed in it, those without records that lead no later term, and itself are no majority; surely not either
// with those that perhaps did. The lease was over then. It returns zero if they always were one. Where no record says
// who votes, every follower must have stopped believing, and the leader have had the vote of another node: else it may
// be the only voter.
func (g *group) abandoned(r *Leadership, surely bool) (at time.Time, ref Ref) {
	with := map[uint64]bool{r.Leader: true} // who may still have been bound to it
	var left []Follower
	for _, f := range r.Followers {
		with[f.Node] = true
		if at, by, ok := g.departed(&f); ok {
			f.Until, f.Last = at, by
			left = append(left, f)
		}
	}
	most := 0 // how many are no majority
	if len(g.voters) > 0 {
		most = len(g.voters) / 2
		for id := range with {
			if !g.voters[id] {
				delete(with, id)
			}
		}
		for id := range g.voters {
			if g.nodes[id] != nil {
				continue
			}
			with[id] = true
			if next := g.leadsAfter(id, r); next != nil {
				left = append(left, Follower{Node: id, Until: next.From, Last: next.first()})
			}
		}
	} else if r.voted {
		delete(with, r.Leader)
	}
	slices.SortFunc(left, func(a, b Follower) int { return a.Until.Compare(b.Until) })
	for _, f := range left {
		delete(with, f.Node)
		if len(with) > most || surely && len(with)+g.mayFollow(r, with, f.Until) > most {
			continue
		}
		if r.life != nil && g.fix.at(r.Leader, r.wrote).After(f.Until) {
			break // it led on, by its own word
		}
		return f.Until, f.Last
	}
	return time.Time{}, Ref{}
}

// leadsAfter returns the first leadership of the node in a later term, which it did not begin while it was bound to the
// leader of r; nil if there is none.
func (g *group) leadsAfter(id uint64, r *Leadership) *Leadership {
	for _, next := range g.begunAfter(r.From) {
		if next.Leader == id && next.Term > r.Term {
			return next
		}
	}
	return nil
}

// departed returns since when the follower surely followed no more, and the record that shows it: it noticed the end of
// the lease, or its process had ended, and the next one of its node follows no leader of the term.
func (g *group) departed(f *Follower) (at time.Time, by Ref, ok bool) {
	if f.expired {
		return g.expired(f), f.Last, true
	}
	l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]
	if f.left || l == nil || l.next == nil || l.atOnce(l.next) {
		return at, by, false
	}
	return g.fix.at(f.Node, l.next.from), l.next.ref(l.next.first()), true
}

// mayFollow counts the voters, beside those with the leader, that may have followed it at the time t by none of their
// records: the one in which a voter began to, or came back to it, may be missing. A follower
// whose process ended may have promised the lease again in its next one, until the lease had ended.
func (g *group) mayFollow(r *Leadership, with map[uint64]bool, t time.Time) (voters int) {
	over := g.ranOut(r, t)
	for id := range g.voters {
		m, f, since, until := g.nodes[id], r.follower(id), r.From, t
		if f != nil {
			since = f.Until.Add(1)
			if !f.expired {
				until = latest(t, over)
			}
		}
		if m == nil || with[id] || id == r.Leader || since.After(t) && !g.mayBeBack(f) {
			continue
		}
		l := m.at(until, g.fix)
		if since.After(t) || l == nil && !g.surelyFirst(m) || l != nil && !g.tells(l, since, until) {
			voters++
		}
	}
	return voters
}

// mayBeBack reports whether the record after that in which the follower noticed the end of the lease is missing: it may
// follow the leader again in that one, and have promised the lease to it.
func (g *group) mayBeBack(f *Follower) bool {
	if f == nil || !f.expired {
		return false
	}
	l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]
	if l == nil {
		return false
	}
	next, wrote := l.after(f.Until, g.fix)
	return wrote && l.rangeOf(next.seq) > f.Last.Seq
}

// surelyFirst reports whether no process of the node came before the first one here. Where logs are cut, that may have
// lost its disk.
func (g *group) surelyFirst(m *member) bool {
	return len(m.lives) > 0 && !g.pairing.cut && !g.seenBefore(m)
}

// seenBefore reports whether another node saw or heard the node long before its first process here began, or saw a
// process of it end before that.
func (g *group) seenBefore(m *member) bool {
	id, began := m.lives[0].node, g.fix.at(m.lives[0].node, m.lives[0].from)
	seen := earliest(firstAfter(g.joins[id], time.Time{}), firstAfter(g.heard[id], time.Time{}))
	if !seen.IsZero() && !seen.After(began.Add(-maxTransit)) {
		return true
	}
	return slices.ContainsFunc(g.drops[id], func(d *drop) bool {
		off := g.bound(d.Node, id)
		if !g.compared(d.Node, id) { // they may differ by as much as nobody notices
			off = max(off, maxTransit)
		}
		return off != unbounded && d.At.Add(off).Before(began) && EndedProcess(d.Evidence, id)
	})
}

// tells reports whether the records of the process tell what it believed from one time to another: none is missing, and
// one came later, or it had ended. The last ones before that end may be missing.
func (g *group) tells(l *life, from, until time.Time) bool {
	before, _ := l.before(from, g.fix)
	if after, wrote := l.after(until, g.fix); wrote {
		return l.rangeOf(after.seq) <= max(before.seq, 1)
	}
	return slices.ContainsFunc(g.events(l), func(e LifeEvent) bool {
		return e.Kind == Ended && !e.At.After(until) && (!e.At.After(from) || !g.lacksLast(l, e.At))
	})
}

// lacksLast reports whether the last records of the process may be missing, from before the time t: its log ends long
// before, or others got what it sent since, or records are missing with which the next process of its node began.
func (g *group) lacksLast(l *life, t time.Time) bool {
	switch {
	case g.goodbye(l) != nil:
		return false
	case l.next != nil:
		return g.lacksEnd(l)
	}
	return g.sentUnseen(l) || g.logEnd(l.node).Add(maxTransit).Before(t)
}

// expired returns when the lease had ended at the latest whose end the follower noticed, as far as the follower can
// tell: it may have noticed late, since it slept.
func (g *group) expired(f *Follower) time.Time {
	l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]
	if l == nil {
		return f.Until
	}
	at := g.wokeFrom(l, f.Until)
	if l.debug && !f.lease.IsZero() && at.Sub(f.lease) > maxTransit { // it wrote down all renewals that it heard of
		return f.lease
	}
	return at
}

// ranOut returns when the lease had ended at the latest that a majority of the voters held for ended at the time at:
// none of them promised it again after that. Nobody leads a later term before the lease has ended.
func (g *group) ranOut(r *Leadership, at time.Time) time.Time {
	if r.life != nil && r.life.debug && !r.gap && !g.wroteUnseen(r) {
		return r.Lease // the leader wrote its last renewal
	}
	end := r.Lease
	for i := range r.Followers {
		if left, _, ok := g.departed(&r.Followers[i]); ok && !left.After(at) {
			end = latest(end, g.boundUntil(&r.Followers[i], left))
		}
	}
	for id := range g.voters {
		if next := g.leadsAfter(id, r); next != nil && g.nodes[id] == nil && !next.From.After(at) {
			end = latest(end, next.From) // no record tells until when it was bound before
		}
	}
	for _, next := range g.begunAfter(at) {
		if next.Term > r.Term || next.From.After(end) {
			return earliest(next.From, end)
		}
	}
	return end
}

// boundUntil returns until when at the latest a follower had promised the lease that follows no more, since the time
// left. A lease runs from the HEARTBEAT that the follower answered, and it answered none while it slept, unless its own
// records tell of a lease for longer. Its promise is over if it would vote for another node.
func (g *group) boundUntil(f *Follower, left time.Time) time.Time {
	last := earliest(f.heard, latest(f.Until, left))
	l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]
	if l == nil {
		return last.Add(g.leaseTime)
	}
	last = latest(earliest(last, g.sleptSince(l, f.Until)).Add(g.leaseTime), f.lease)
	if l.free.seq >= f.Last.Seq {
		last = earliest(last, g.fix.at(f.Node, l.free.wall))
	}
	return last
}
