package rounds

import (
	"cmp"
	"slices"
	"time"
)

// absence is a time in which a node did not take part, as far as the records tell.
type absence struct {
	id    uint64
	from  time.Time
	until time.Time // zero if no record tells that it came back
	how   string
	ref   Ref
	ended bool // its process had ended by from
}

const (
	// unheard is how a voter was of which no record tells anything: it was asked for its vote, and its log ends
	// before, or is not here. Or its next process began later, and when the one before ended is in no record: it may
	// have been paused or cut off until then, or have had nothing to write.
	unheard = "without a sign of life here"
	// unanswering is how a voter was that was asked for its vote, or sent a HEARTBEAT, and of which no answer arrived:
	// it did not run, or the question or the answer was lost or held up.
	unanswering = "not heard to answer"
	// refusing is how a voter was whose next process refused to run.
	refusing = "started again and refusing to run"
	// hasRefused is how a voter was of which a process refused to run, and when the next one that ran began is in no
	// record.
	hasRefused = "refused to run"
	// silent is how a node was that a peer heard nothing of, and that was there again later, if it was.
	silent = "silent"
	// voteless is how a voter was that had lost what it voted.
	voteless = "voting for nobody, with nothing saved"
	// dead is how a voter was whose process had ended, and that ran none since.
	dead = "dead"
	// unseen is how a voter was whose process had ended, and when the next one began is in no record. So it is where
	// nothing but the proof of its end is in the records, or who saw that end did not ask it since, and the
	// start of the next one need not be, as at level info.
	unseen = "ended and not seen since"
	// hasEnded is what is told of both: its process had ended, and nobody heard of another one.
	hasEnded = "ended"
)

// covers reports whether the node was away from one time to another.
func (a *absence) covers(from, until time.Time) bool {
	return !a.from.After(from) && (a.until.IsZero() || !a.until.Before(until))
}

// state says in words how the node was.
func (a *absence) state() string {
	if a.how == dead || a.how == unseen {
		return hasEnded
	}
	return a.how
}

// silentFrom reports whether a node was silent to the others from one time to another.
func (g *group) silentFrom(id uint64, from, until time.Time) bool {
	return slices.ContainsFunc(g.silences(id), func(a absence) bool { return a.covers(from, until) })
}

// silentFor returns for how long, between one time and another, a node was silent to the others.
func (g *group) silentFor(id uint64, from, until time.Time) (sum time.Duration) {
	for _, a := range g.silences(id) {
		end := until
		if !a.until.IsZero() {
			end = earliest(end, a.until)
		}
		sum += max(end.Sub(latest(from, a.from)), 0)
	}
	return sum
}

// silences returns those of the node's absences in which it was silent.
func (g *group) silences(id uint64) []absence {
	all, known := g.silent[id]
	if known {
		return all
	}
	all = g.ofEach(id, func(l *life) []absence {
		if !slices.ContainsFunc(g.events(l), func(e LifeEvent) bool { return e.Kind == Silent }) { // nearly always
			return nil
		}
		return g.absencesOf(l)
	})
	all = slices.DeleteFunc(all, func(a absence) bool { return a.how != silent })
	g.silent[id] = all
	return all
}

// absences returns when a node was away.
func (g *group) absences(id uint64) []absence {
	all, known := g.away[id]
	if known {
		return all
	}
	all = g.ofEach(id, func(l *life) []absence { return append(g.absencesOf(l), g.votelessOf(l)...) })
	all = append(append(all, g.overslept(id)...), g.unanswered(id)...)
	all = g.readLate(id, all)
	all = append(append(all, g.unseen(id)...), g.unheeding(id)...)
	for i := range all {
		a := &all[i]
		if soon := a.from.Add(outlives); a.how == silent && lastBefore(g.heard[id], soon).After(a.from) {
			a.how = unheard // it may have been lost to who lost it for a moment
		}
		if a.how == unheard { // what was on its way is a sign of life, too
			until := a.until
			if until.IsZero() {
				until = g.logsEnd
			}
			for _, heard := range []map[uint64][]time.Time{g.heard, g.maybeHeard, g.stale} {
				a.from = latest(a.from, lastBefore(heard[id], until))
			}
		}
	}
	g.away[id] = all
	return all
}

// ofEach returns the absences of each process of the node or, if no record is its own, those that others saw.
func (g *group) ofEach(id uint64, of func(l *life) []absence) (all []absence) {
	m := g.nodes[id]
	if m == nil {
		return g.lostSight(id)
	}
	for _, l := range m.all() {
		all = append(all, of(l)...)
	}
	return all
}

// lostSight returns when a node without records was away, by the evidence of the others.
func (g *group) lostSight(id uint64) (all []absence) {
	for _, d := range g.drops[id] {
		a := absence{id: id, from: d.At, until: g.seenAgain(id, d.At), how: silent, ref: d.Ref}
		if a.ended = EndedProcess(d.Evidence, id); saysLeft(d.Evidence, id) {
			a.how = "stopped"
		} else if a.ended {
			a.how = dead
		}
		back := !a.until.IsZero() || d.proven() || !g.watched(&a, d.Ref) // its next process may have run before
		if a.ended && (back || a.how == dead) {                          // which may be cut off from who saw that
			a.how = unseen
		}
		if !a.ended && !g.watched(&a, d.Ref) {
			a.how = unheard
		}
		all = append(all, a)
	}
	return all
}

// watched reports whether the process whose record tells that a node was away may have been there until that was seen
// again, or until the logs end: it wrote until then, and had not just woken.
func (g *group) watched(a *absence, by Ref) bool {
	until := cmp.Or(a.until, g.logsEnd)
	if !g.wroteUntil(by, until) {
		return false
	}
	l := g.nodes[by.Node].byIncarnation[by.Incarnation]
	return a.until.IsZero() || !l.wokeBefore(until, g.fix) && !g.mayHaveSlept(l, until)
}

// wroteUntil reports whether the process of the record may have been there until the time t: it wrote until then.
func (g *group) wroteUntil(by Ref, t time.Time) bool {
	m := g.nodes[by.Node]
	if m == nil || m.byIncarnation[by.Incarnation] == nil {
		return false
	}
	return !g.fix.at(by.Node, m.byIncarnation[by.Incarnation].until).Before(t.Add(-maxTransit))
}

// absencesOf returns when a process was away by what it and its peers tell, and how long its node ran none afterwards.
func (g *group) absencesOf(l *life) (all []absence) {
	end := func(at time.Time) {
		if n := len(all); n > 0 {
			all[n-1].until = earliest(all[n-1].until, at)
		}
	}
	next, _ := g.nextBegan(l)
	for _, e := range g.events(l) {
		a := absence{id: l.node, from: e.At, ref: e.Ref}
		switch e.Kind {
		case Resumed:
			end(e.At)
			continue
		case Ended:
			ended := g.downAfter(l, &e, next)
			end(ended[0].from)
			all = append(all, ended...)
			continue
		case Silent:
			maybe := firstAfter(g.maybeHeard[l.node], e.At.Add(maxTransit)) // nor need it have been silent
			a.how, a.until = silent, earliest(g.seenAgain(l.node, e.At), maybe)
		case Paused:
			a.how = "paused"
		default:
			continue
		}
		end(a.from)
		all = append(all, a)
	}
	for i := range all { // who noticed that it was silent may be gone, and what it sent then not be here
		a := &all[i]
		until := cmp.Or(a.until, g.logsEnd)
		if a.how == silent && g.lacksBetween(l.node, a.from, until) && !g.wroteUntil(a.ref, until) {
			last, _ := l.before(until, g.fix)
			a.how, a.from = unheard, latest(a.from, g.fix.at(l.node, last.wall))
		}
	}
	return all
}

// unseen returns since when the node is in the view of another one no more, if no record tells anything of it since. At
// level info the view in which it is lost need not be in the records.
func (g *group) unseen(id uint64) (all []absence) {
	last := time.Time{}
	if m := g.nodes[id]; m != nil {
		last = g.lastLine(m.lives[len(m.lives)-1])
	}
	for by, m := range g.nodes {
		off := g.apart(by, id)
		if by == id || off == unbounded {
			continue
		}
		for _, l := range m.lives {
			if h, ok := l.viewWithout(id, last.Add(off), g.fix); ok && g.seenAgain(id, g.fix.at(by, h.wall)).IsZero() {
				all = append(all, absence{id: id, from: g.fix.at(by, h.wall), how: unheard, ref: l.ref(h.seq)})
			}
		}
	}
	slices.SortFunc(all, func(a, b absence) int { return a.from.Compare(b.from) })
	return all[:min(len(all), 1)]
}

// lastLine returns when the process wrote its last record, or the line behind it by which it ended.
func (g *group) lastLine(l *life) time.Time {
	if bye := g.goodbye(l); bye != nil {
		return g.fix.at(l.node, bye.Time)
	}
	return g.fix.at(l.node, l.until)
}

// viewWithout returns the first of the process's last views that all lack the node, after the time t.
func (l *life) viewWithout(id uint64, t time.Time, fix clockFix) (first happening, ok bool) {
	for _, h := range slices.Backward(l.allHappenings()) {
		if h.event != "peers" {
			continue
		}
		if slices.Contains(h.alive, id) || !fix.at(l.node, h.wall).After(t) {
			break
		}
		first, ok = h, true
	}
	return first, ok
}

// unanswered returns when the node was asked for its vote, and slept or ran no process until long after, or was never
// heard of again.
func (g *group) unanswered(id uint64) (all []absence) {
	for at := (time.Time{}); ; {
		asked, ok := g.firstAsked(id, at)
		if !ok {
			return all
		}
		l, wrote, ok := g.wroteAfter(id, asked.at)
		if !ok {
			if at = earliest(g.seenAgain(id, asked.at), firstAfter(g.answered[id], asked.at)); !at.IsZero() {
				continue // its log is not whole
			}
			a := absence{id: id, from: asked.at, how: unheard, ref: asked.ref}
			if m := g.nodes[id]; m != nil {
				last := m.lives[len(m.lives)-1]
				if said := g.lastLine(last); said.After(asked.at) {
					a.until = said
				}
				if !a.until.IsZero() && (last.debug || g.debugs(asked.ref)) { // level info does not tell each answer
					a.how = unanswering
				}
			}
			if a.until.IsZero() || a.until.Sub(a.from) > maxTransit {
				all = append(all, a)
			}
			return all
		}
		at = g.fix.at(id, wrote.wall)
		if at.Sub(asked.at) <= maxTransit { // nearly always
			continue
		}
		known, again := l.place > 0 && l.started, g.seenAgain(id, asked.at) // the one before that start gave no answer
		if wrote.seq > 1 {
			known = l.first() < wrote.seq && !l.gapAround(asked.at, g.fix) && g.wokeTo(l, asked, at)
			again = g.heardAgain(id, asked.at)
		}
		if !known {
			at = asked.at.Add(1)
			continue
		}
		again = earliest(again, firstAfter(g.answered[id], asked.at)) // it may have answered at once
		at = earliest(again, at)                                      // at level info it does not write each answer
		if at.Sub(asked.at) > maxTransit {
			all = append(all, absence{
				id: id, from: asked.at, until: at, how: unanswering, ref: l.ref(wrote.seq),
			})
		}
	}
}

// debugs reports whether the process of a record writes records of level debug.
func (g *group) debugs(ref Ref) bool {
	m := g.nodes[ref.Node]
	return m != nil && m.byIncarnation[ref.Incarnation] != nil && m.byIncarnation[ref.Incarnation].debug
}

// wokeTo reports whether a voter that wrote nothing since it was asked slept until the time t: it says that it woke, or
// read the question then. A question that it never read shows nothing: it was lost on its way, or refused as the one
// before it, which level info does not tell.
func (g *group) wokeTo(l *life, asked asking, t time.Time) bool {
	return slices.ContainsFunc(l.woke, func(woke time.Time) bool {
		return g.fix.at(l.node, woke).Sub(t).Abs() <= together
	}) || slices.ContainsFunc(g.slow[l], func(r slowReceipt) bool {
		return r.asks && r.sent.Equal(asked.at) && r.got.Sub(t) <= together
	})
}

// readLate adds to when a node was away that it had been asked for its vote, and read that long after its last record:
// what it wrote meanwhile, as when a timer was due, was no answer.
func (g *group) readLate(id uint64, all []absence) []absence {
	m := g.nodes[id]
	if m == nil {
		return all
	}
	for _, l := range m.lives {
		for _, r := range g.slow[l] {
			before, wrote := l.before(r.got.Add(-together), g.fix)
			first, ok := l.after(r.got.Add(-1), g.fix)
			from := latest(r.sent, g.fix.at(id, before.wall))
			ran := before.read || g.fix.at(id, l.from).After(r.sent) // it read another one, or began
			if heard := lastBefore(g.heard[id], r.got.Add(-together)); heard.After(from) {
				ran, from = true, heard
			}
			held := ran && from.Sub(r.sent) > maxTransit // it ran since, and this was on its way still
			if !r.asks || !wrote || !ok || held || r.got.Sub(from) <= maxTransit {
				continue
			}
			late := absence{id: id, from: from, until: r.got, how: unanswering, ref: l.ref(first.seq)}
			i := slices.IndexFunc(all, func(a absence) bool {
				return !a.from.After(late.until) && (a.until.IsZero() || a.until.After(late.from))
			})
			switch {
			case i < 0:
				all = append(all, late)
			case all[i].how == late.how && late.from.Before(all[i].from):
				all[i].from = late.from
			}
		}
	}
	return all
}

// unheeding returns when a voter was away whose answer would have made a majority with the leader, which got none: no
// record tells anything of it since, or the next one is of another process.
func (g *group) unheeding(id uint64) (all []absence) {
	if len(g.voters) > 3 || !g.voters[id] {
		return nil
	}
	for _, leader := range g.everyVoter() {
		m := g.nodes[leader]
		if m == nil || leader == id {
			continue
		}
		for _, l := range m.lives {
			for _, unheeded := range l.unheeded {
				at := g.fix.at(leader, unheeded.wall)
				a := absence{id: id, from: at, how: unheard, ref: l.ref(unheeded.seq), until: g.seenAgain(id, at)}
				if next, wrote, ok := g.wroteAfter(id, at); ok {
					up := earliest(next.from, g.ups.at[next.ref(0)])
					if a.until = earliest(a.until, g.fix.at(id, up)); wrote.seq > 1 || next.place == 0 {
						continue // the same process went on
					}
					if l.debug || g.lapsedAfter(l, at) { // level info does not tell each answer
						a.how = unanswering
					}
				} else if !a.until.IsZero() {
					continue
				}
				if a.until.IsZero() || a.until.Sub(at) > maxTransit {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// lapsedAfter reports whether the process noticed that its lease ended so soon after t that no answer since renewed it.
func (g *group) lapsedAfter(l *life, t time.Time) bool {
	return slices.ContainsFunc(g.byLeader[l.node], func(r *Leadership) bool {
		return r.life == l && r.endedBy.expired && r.Until.After(t) && r.Until.Sub(t) <= g.leaseTime
	})
}

// wroteAfter returns the first record that the node wrote after t, and its process.
func (g *group) wroteAfter(id uint64, t time.Time) (l *life, wrote mark, ok bool) {
	m := g.nodes[id]
	if m == nil {
		return nil, mark{}, false
	}
	for _, l := range m.lives[max(m.index(t, g.fix), 0):] {
		if wrote, ok = l.after(t, g.fix); ok {
			return l, wrote, true
		}
	}
	return nil, mark{}, false
}

// overslept returns when the node slept, since it noticed long after others that a lease had ended, its own or that of
// the leader that it followed. Its timer would have told it. A HEARTBEAT that was held up may have renewed that of the
// leader: a follower whose records have not all renewals must have woken by another sign.
func (g *group) overslept(id uint64) (all []absence) {
	for _, r := range g.list {
		since := r.End
		woke, expired, by := r.Until, !r.Last.IsZero() && r.endedBy.expired, r.Last
		if f := r.follower(id); f != nil && id != r.Leader {
			woke, expired, by = f.Until, f.expired, f.Last
			since = latest(since.Add(g.leaseTime), f.lease)
			expired = expired && (!f.heard.IsZero() || g.sleptUntil(f))
		} else if id != r.Leader {
			continue
		}
		if r.End.IsZero() || !expired || r.Ended.Ref.IsZero() {
			continue
		}
		off := g.apart(id, r.Ended.Ref.Node)
		if off != unbounded && woke.Sub(since) > maxTransit+off && !g.wroteBetween(id, since.Add(off), woke) {
			all = append(all, absence{id: id, from: since, until: woke, how: "paused", ref: by})
		}
	}
	return all
}

// wroteBetween reports whether the node wrote anything well after the first time, and not as it woke at the second one.
func (g *group) wroteBetween(id uint64, from, woke time.Time) bool {
	_, wrote, ok := g.wroteAfter(id, from.Add(together))
	return ok && g.fix.at(id, wrote.wall).Before(woke.Add(-together))
}

// asking is when a candidate asked a voter, corrected, and the record that shows it.
type asking struct {
	at  time.Time
	ref Ref
}

// firstAsked returns when a candidate first asked the voter from the time t on.
func (g *group) firstAsked(id uint64, t time.Time) (first asking, ok bool) {
	asked := g.asked[id]
	i, _ := slices.BinarySearchFunc(asked, t, func(a asking, t time.Time) int { return a.at.Compare(t) })
	if i == len(asked) {
		return first, false
	}
	return asked[i], true
}

// seenAgain returns when another node first saw the node again after t, or got a message of it, or when a process of it
// without records said that it runs. It returns zero if none did. Messages that were on their way do not count.
func (g *group) seenAgain(id uint64, t time.Time) time.Time {
	again := g.seenByOthers(id, t)
	if m := g.nodes[id]; m != nil {
		for _, l := range m.silent {
			if up := g.fix.at(id, l.from); up.After(t) {
				again = earliest(again, up)
			}
		}
	}
	return again
}

// seenByOthers returns when another node first saw or heard the node again after t, zero if none did.
func (g *group) seenByOthers(id uint64, t time.Time) time.Time {
	return earliest(firstAfter(g.joins[id], t), g.heardAgain(id, t))
}

// heardAgain returns when another node first heard of the node again after t, zero if none did. Messages that were on
// their way do not count.
func (g *group) heardAgain(id uint64, t time.Time) time.Time {
	return firstAfter(g.heard[id], t.Add(outlives))
}

// firstAfter returns the first of the times after t, zero if none is.
func firstAfter(times []time.Time, t time.Time) time.Time {
	i, _ := slices.BinarySearchFunc(times, t, func(at, t time.Time) int {
		if at.After(t) {
			return 1
		}
		return -1 // several may be at t
	})
	if i >= len(times) {
		return time.Time{}
	}
	return times[i]
}

// lastBefore returns the last of the times before t, zero if none is.
func lastBefore(times []time.Time, t time.Time) time.Time {
	i, _ := slices.BinarySearchFunc(times, t, time.Time.Compare)
	if i == 0 {
		return time.Time{}
	}
	return times[i-1]
}

// earliest returns the earlier of two times. Zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// findJoins notes when each node came into the view of another one. For one that had slept, it may have come at any
// time since: it was heard of then.
func (g *group) findJoins() {
	g.joins, g.early = emptied(g.joins), map[[2]uint64]bool{}
	for _, m := range g.nodes {
		for _, l := range m.lives {
			g.findJoinsOf(l)
		}
	}
	for _, times := range []map[uint64][]time.Time{g.joins, g.heard} {
		for _, list := range times {
			slices.SortFunc(list, time.Time.Compare)
		}
	}
}

// findJoinsOf notes when other nodes came into the view of the process. After one is proven dead, that is another
// process of it.
func (g *group) findJoinsOf(l *life) {
	var alive []uint64
	all := l.allHappenings()
	for i := range all {
		h := &all[i] // which is long
		switch h.event {
		case "gone":
			alive = slices.DeleteFunc(slices.Clone(alive), func(id uint64) bool { return id == h.about })
		case "peers":
			at, seen := g.fix.at(l.node, h.wall), g.joins
			if !g.sleptSince(l, at).IsZero() {
				seen = g.heard
			}
			for _, other := range h.alive {
				told := alive == nil && neverReached(all[i+1:], other)
				if other != l.node && !slices.Contains(alive, other) && !told {
					seen[other] = append(seen[other], at)
					if g.beganAfter(other, h.wall) {
						g.early[[2]uint64{l.node, other}] = true
					}
				}
			}
			alive = h.alive
		}
	}
}

// neverReached reports whether a process that had been told of the node then could not reach it: it never had a link.
func neverReached(later []happening, id uint64) bool {
	for i := range later {
		if h := &later[i]; h.event == "peers" && !slices.Contains(h.alive, id) {
			return names(h.evidence, "unreachable", id) && !names(h.evidence, "link-closed", id) &&
				!names(h.evidence, "link-reset", id) && !names(h.evidence, "heartbeat-missed", id)
		}
	}
	return false
}

// beganAfter reports whether the node began, by its own clock and its first record, clearly after the time t.
func (g *group) beganAfter(id uint64, t time.Time) bool {
	m := g.nodes[id]
	return m != nil && m.forgotten.lives == 0 && m.lives[0].started && m.lives[0].from.Sub(t) > maxTransit
}
