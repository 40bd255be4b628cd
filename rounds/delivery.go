package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxTransit is how long a message may be on its way before it counts as lost or
// held up. Links between living nodes take milliseconds.
const maxTransit = time.Second

// deliveries judges what became of the messages without a receipt.
func (r *Round) deliveries(g *group, t *log) {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Delivery == "" {
			// Its receipt may be of another term, or have changed nothing.
			for _, got := range t.entries[m.SendStep].elsewhere {
				if got.id == m.ID && got.to == m.To {
					m.Delivery, m.arrived = Arrived, g.fix.at(got.to, got.wall)
				}
			}
		}
		if m.Delivery == "" {
			m.Delivery = r.delivery(m, g, t)
		}
	}
}

// delivery returns what became of one message without a receipt. That a later one arrived proves nothing: it may have
// come over another connection.
func (r *Round) delivery(m *Message, g *group, t *log) Delivery {
	sent := r.Steps[m.SendStep]
	var l *life
	var began time.Time // of the process that it was sent to, zero if that is not known
	to := g.nodes[m.To]
	if m.unsure {
		return Unseen
	}
	if to != nil {
		if l = to.at(sent.At, g.fix); l != nil {
			began = g.fix.at(l.node, l.from)
		}
	}
	// At level info not every return is in the records. So evidence against one process
	// does not count for the next one.
	heard := t.entries[m.SendStep].from == m.To
	d := g.dropAt(m.From, m.To, sent.At)
	if d != nil && (t.entries[m.SendStep].life.debug || !began.After(d.At)) {
		if heard && !EndedProcess(d.Evidence, m.To) || d.backRef == sent.Ref { // it was there, and wrote no receipt
			return Unseen
		}
		return ToGone
	}
	if !heard && m.To == r.Cause.Lost && !r.Cause.At.After(sent.At) && !began.After(r.Cause.At) {
		return ToGone
	}
	if to == nil {
		return Unseen
	}
	if l != nil {
		ends, off := g.fix.at(l.node, l.until), g.apart(m.From, m.To)
		switch {
		case sent.At.After(ends): // its records end before
		case off > 0 && !l.coversFrom(sent.At, off, g.fix): // it may have come before them
			return Unseen
		case !l.debug || l.gapSince(sent.At, g.fix):
			return Unseen
		case l.sleptAround(sent.At, g.fix), g.stopped(t.entries[m.SendStep].life, sent.At):
			return ToGone
		case g.wokeJustBefore(t.entries[m.SendStep].life, sent.At), g.wokeJustBefore(l, sent.At):
			return ToGone
		case t.entries[m.SendStep].life.tookForFormer(m.To, sent.At, g.fix):
			return ToGone
		case t.entries[m.SendStep].life.lacks(m.To, sent.Ref.Seq):
			return ToGone
		case ends.Sub(g.awakeFrom(l, sent.At))-off > maxTransit:
			return Lost
		default:
			return Unseen
		}
	}
	if !heard && len(g.dropsSince(m.To, began)) > 0 {
		return ToGone
	}
	return Unseen
}

// coversFrom reports whether the process wrote before the time t of a clock that may be off by as much, and no record
// from then on is missing.
func (l *life) coversFrom(t time.Time, off time.Duration, fix clockFix) bool {
	if off == unbounded {
		return false
	}
	began := t.Add(-off)
	return !fix.at(l.node, l.from).After(began) && !l.gapSince(began, fix)
}

// sleptAround reports whether the process, which writes down all that it does, wrote nothing for long around the time
// t: it was paused, or hung.
func (l *life) sleptAround(t time.Time, fix clockFix) bool {
	before, ok := l.before(t, fix)
	after, wrote := l.after(t, fix)
	return ok && wrote && after.wall.Sub(before.wall) > maxTransit
}

// awakeFrom returns when the process was awake to read what came from the time t on: it may have slept before it did,
// since another one missed it meanwhile, or none was there all the while that would have, and read it as it woke.
func (g *group) awakeFrom(l *life, t time.Time) time.Time {
	before, _ := l.before(t.Add(maxTransit), g.fix)
	after, wrote := l.after(t.Add(maxTransit), g.fix)
	slept, woke := g.fix.at(l.node, before.wall), g.fix.at(l.node, after.wall)
	missed := func(d *drop) bool { return d.At.Before(woke) }
	if wrote && woke.Sub(slept) > maxTransit &&
		(slices.ContainsFunc(g.dropsSince(l.node, slept), missed) || !g.present(l.node, slept, woke)) {
		return woke
	}
	return t
}

// present reports whether a process of another node wrote both before and after these times.
func (g *group) present(node uint64, from, until time.Time) bool {
	for id, m := range g.nodes {
		by := m.at(from, g.fix)
		if id != node && by != nil && !g.fix.at(id, by.until).Before(until) {
			return true
		}
	}
	return false
}

// stopped reports whether the process, which writes down all that it does, wrote nothing for long from the time
// t on, and another one missed it meanwhile: it was paused, or hung, and what it had just sent may never have
// left it.
func (g *group) stopped(l *life, t time.Time) bool {
	next, wrote := l.after(t, g.fix)
	until := g.fix.at(l.node, next.wall)
	return l.debug && wrote && until.Sub(t) > maxTransit &&
		slices.ContainsFunc(g.dropsSince(l.node, t), func(d *drop) bool { return d.At.Before(until) })
}

// wokeJustBefore reports whether the process, which writes down all that it does, wrote nothing for long until just
// before the time t, and another one missed it meanwhile: it was paused, or hung. The connections that it had with the
// others may end as it wakes, and what is sent then goes down with them.
func (g *group) wokeJustBefore(l *life, t time.Time) bool {
	before, wrote := l.before(t.Add(-together), g.fix)
	since := g.fix.at(l.node, before.wall)
	return l.debug && wrote && t.Add(-together).Sub(since) > maxTransit &&
		slices.ContainsFunc(g.dropsSince(l.node, since), func(d *drop) bool { return d.At.Before(t) })
}

// tookForFormer reports whether the process found soon after t that its connection was to a process of the receiver
// that had ended: the message went there.
func (l *life) tookForFormer(to uint64, t time.Time, fix clockFix) bool {
	replaced := fmt.Sprintf("new-incarnation %d", to)
	return slices.ContainsFunc(l.allHappenings(), func(h happening) bool {
		after := fix.at(l.node, h.wall).Sub(t)
		return h.event == "peers" && after >= 0 && after <= maxTransit &&
			(EndedProcess(h.evidence, to) || slices.Contains(strings.Split(h.evidence, ", "), replaced))
	})
}

// lacks reports whether the process, which writes down all its views, did not see the other node in the last one before
// its record with the given number.
func (l *life) lacks(other, seq uint64) bool {
	view, ok := l.viewAt(seq)
	return ok && l.debug && !slices.Contains(view.alive, other)
}

// goneFor reports whether, at the time t, a node had evidence against the process of another node that began at
// the time began, and had not taken it back.
func (g *group) goneFor(node, other uint64, t, began time.Time) bool {
	d := g.dropAt(node, other, t)
	return d != nil && !began.After(d.At)
}

// gapSince reports whether records of the process are missing around the time t, or at any time after it. A message may
// be held up for many seconds, and its receipt may be in one of them.
func (l *life) gapSince(t time.Time, fix clockFix) bool {
	if len(l.seen) == 1 {
		return false
	}
	before, _ := l.before(t, fix)
	return !slices.ContainsFunc(l.seen, func(s span) bool {
		return s.first <= before.seq && l.top.seq <= s.last
	})
}

// gapAround reports whether records of the process are missing around the time t, or up to maxTransit later.
func (l *life) gapAround(t time.Time, fix clockFix) bool {
	return l.gapBetween(t, t.Add(maxTransit), fix)
}

// gapBetween reports whether records of the process are missing that may be from between two times.
func (l *life) gapBetween(from, until time.Time, fix clockFix) bool {
	if len(l.seen) == 1 {
		return false
	}
	before, _ := l.before(from, fix)
	after, ok := l.after(until, fix)
	if !ok {
		after = l.top
	}
	return !slices.ContainsFunc(l.seen, func(s span) bool {
		return s.first <= before.seq && after.seq <= s.last
	})
}
