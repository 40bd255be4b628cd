package rounds

import (
	"maps"
	"slices"
	"time"
)

// perhapsLed reports whether somebody may have led others in one of the terms meanwhile, in records that are missing.
func (in *Incident) perhapsLed(g *group) bool {
	return slices.ContainsFunc(in.rounds, func(r *Round) bool { return g.anyHeard(r.perhaps) })
}

// perhapsSkipped reports whether somebody may have led a term meanwhile of which no record is here: the first of those
// between the two leaderships, or the last.
func (in *Incident) perhapsSkipped(g *group) bool {
	if in.Former == 0 || in.Leader == 0 {
		return false
	}
	return slices.ContainsFunc([]uint64{in.FormerTerm + 1, in.Term - 1}, func(term uint64) bool {
		untold := !slices.Contains(in.Terms, term) && term > in.FormerTerm && term < in.Term
		return untold && g.anyHeard(g.perhapsLed(&Round{Term: term}))
	})
}

// perhapsLedBefore reports whether somebody may have led before the first leadership of which records tell: the log of
// a node begins long after, and not surely with its first process, or after others saw one, or is not here. Under a
// lease, so do those of a majority of the voters, or within a process, or less than a lease before: only their votes
// let it lead.
func (in *Incident) perhapsLedBefore(g *group) bool {
	if in.Former != 0 {
		return false
	}
	lease, votes, later := leased(g.guarantee), 0, false
	for _, id := range g.everyNode() {
		m := g.nodes[id]
		if m == nil || len(m.lives) == 0 {
			later = later || lease
			if g.voters[id] {
				votes++
			}
			continue
		}
		l := m.lives[0]
		began, heard := g.fix.at(id, l.from), firstAfter(g.heard[id], time.Time{})
		seen := g.seenBefore(m) || !heard.IsZero() && heard.Before(began)
		if l.surelyFirst() && !seen {
			continue
		}
		late := began.After(in.From.Add(maxTransit)) || seen && began.After(in.From)
		later = later || late
		if g.voters[id] && (late || l.first() > 1 || began.Add(g.leaseTime).After(in.From)) {
			votes++
		}
	}
	return later && (!lease || 2*votes > len(g.voters))
}

// calledBefore reports whether a term had been called before the first call of which records tell: a process with which
// a log begins had one saved as it started.
func (in *Incident) calledBefore(g *group) bool {
	for id, m := range g.nodes {
		if len(m.lives) == 0 {
			continue
		}
		l := m.lives[0]
		if l.started && l.began() > g.inRound(0) && !g.fix.at(id, l.from).After(in.From) {
			return true
		}
	}
	return false
}

// anyHeard reports whether one of the nodes, which have records missing, may have led others in them: see endsUnheard.
func (g *group) anyHeard(ids []uint64) bool {
	return slices.ContainsFunc(ids, func(id uint64) bool { return !g.endsUnheard(id) })
}

// endsUnheard reports whether nothing is known to be missing of the log of the node but what may come after its end, or
// before its beginning, and nobody heard of the node then: so it led nobody. A lone voter needs nobody for its lease.
func (g *group) endsUnheard(id uint64) bool {
	m, alone := g.nodes[id], leased(g.guarantee) && len(g.voters) <= 1
	return !alone && m != nil && len(m.lives) > 0 && !m.hidden && !g.seenBefore(m) &&
		!g.sentUnseen(m.lives[len(m.lives)-1]) &&
		!slices.ContainsFunc(m.lives, func(l *life) bool { return !l.complete() })
}

// ledBeside returns until when another one led on another side, when the leader before had ceased to, and the record
// of that; zero if none did: without a lease, nothing keeps it from that. most says that it may have led on.
func (in *Incident) ledBeside(g *group, c *change) (until moment, most bool) {
	if leased(g.guarantee) || !in.Until.After(in.From) {
		return until, false
	}
	began, next := len(g.list)-len(g.begunAfter(in.From)), len(g.list)-len(g.begunAfter(in.Until))
	for i := max(0, began-near); i < min(next+near, len(g.list)); i++ {
		last, more := in.lastOf(g, c, g.list[i], i >= next)
		if last.at.After(latest(in.From, until.at)) {
			until, most = last, more
		}
	}
	return until, most
}

// near is how many leaderships that began before a change, or after it, may have been led beside: it is hardly ever the
// last but one.
const near = 64

// perhapsBeside reports whether one says that it led beside, which was silent to others, and need not have been to all:
// at level info nothing tells whether it slept. Or it began to in a gap of its records, and perhaps meanwhile.
func (in *Incident) perhapsBeside(g *group, c *change) bool {
	if leased(g.guarantee) {
		return false
	}
	until := in.From.Add(in.Leaderless)
	began, next := len(g.list)-len(g.begunAfter(in.From)), len(g.list)-len(g.begunAfter(until))
	for i := max(0, began-near); i < min(next+near, len(g.list)); i++ {
		r := g.list[i]
		silent := i < next && r.life != nil && !r.life.debug && r.End.After(in.From)
		sooner := r.unseen && r.From.After(in.From) && r.before.Before(until) // it may have begun to lead
		if r != c.former && r != c.next && (silent || sooner) {
			return true
		}
	}
	return false
}

// lastOf returns until when one led beside, for ledBeside. later says that it began after the change, as far as is
// told.
func (in *Incident) lastOf(g *group, c *change, r *Leadership, later bool) (until moment, most bool) {
	if r == c.next || r == c.former && in.Ended.Kind != EndedByLoss {
		return until, false
	}
	end := moment{r.End, r.Ended.Ref}
	if r.gap {
		end = moment{r.Until, r.Last}
	}
	last := earliest(end.at, in.Until)
	if r != c.former && !later && !r.First.IsZero() && end.at.After(in.From) &&
		g.silentFor(r.Leader, last.Add(-1), last) == 0 { // it was back, if it was silent before
		return end, r.gap || g.silentFor(r.Leader, latest(in.From, r.From), last) > 0
	}
	untold := r.First.IsZero() || r.unseen && r.From.After(in.Until) // since when it led
	after := func(f Follower) bool { return f.Until.After(in.From) }
	if later && !untold || !slices.ContainsFunc(r.Followers, after) {
		return until, false
	}
	until = in.followedOn(g, r) // it may have led on after that
	if r != c.former && !r.First.IsZero() && !end.at.IsZero() && end.at.Before(until.at) {
		until = end
	}
	return until, true
}

// followedOn returns until when somebody followed a leader on, or again: the one before, after others had lost it, or
// one beside that has no records here of that time. It is zero if nobody did. It led on then, unless its own records,
// all of level debug, tell that it was silent.
func (in *Incident) followedOn(g *group, r *Leadership) (until moment) {
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) { // of several until then, the record of the first one is told
		for _, l := range g.nodes[id].lives {
			l.eachBelief(func(b, _, next *belief) {
				from, last := g.fix.at(id, b.first.wall), b.last
				if next != nil && (from.After(in.From) || !l.debug) { // at level info it need not write that it follows
					last = next.first
				}
				follows := id != r.Leader && b.leader == r.Leader && b.term == r.Term
				if end := g.fix.at(id, last.wall); follows && from.Before(in.Until) &&
					end.After(latest(in.From, until.at)) && !in.silentUntil(g, r, end) {
					until = moment{end, l.ref(last.seq)}
				}
			})
		}
	}
	return until
}

// silentUntil reports whether the records of a leader, all of level debug, tell that it was silent meanwhile, and not
// back before the end of that. Where the logs end soon after its last record, it need not have had anything to write.
func (in *Incident) silentUntil(g *group, r *Leadership, t time.Time) bool {
	if t = earliest(t, in.Until); r.life == nil || !r.life.debug {
		return false
	}
	_, wrote := r.life.after(t, g.fix)
	soon := g.fix.at(r.Leader, r.life.until).Add(maxTransit)
	whole := soon.Before(g.logsEndBy(r.Leader)) && !g.sentUnseen(r.life)
	return (wrote || whole) && g.silentFor(r.Leader, latest(in.From, t.Add(-1)), t) > 0
}

// perhapsFollowed reports whether somebody may have followed the leader before on, which others had lost, in records
// that are missing.
func (in *Incident) perhapsFollowed(g *group, former *Leadership) bool {
	if in.Ended.Kind != EndedByLoss || in.silentUntil(g, former, in.Until) {
		return false
	}
	return slices.ContainsFunc(g.everyNode(), func(id uint64) bool {
		return id != in.Former && g.lacksBetween(id, in.From, in.From.Add(in.Leaderless))
	})
}

// lacksBetween reports whether records of the node may be missing from between two times. A log that ends then lacks
// some if others got what its node sent later, or go on for long, or saw another process of the node.
func (g *group) lacksBetween(id uint64, from, until time.Time) bool {
	m := g.nodes[id]
	if m == nil || len(m.lives) == 0 {
		return true
	}
	l := m.at(until, g.fix)
	if l == nil {
		return !g.surelyFirst(m)
	}
	if l.next == nil && g.ranAgain(l) {
		return true
	}
	_, wrote := l.after(until, g.fix)
	return !g.tells(l, from, until) &&
		(wrote || l.gapBetween(from, until, g.fix) || g.lacksLast(l, g.logsEndBy(id)))
}
