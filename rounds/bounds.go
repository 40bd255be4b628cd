package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Bounds keep the memory of a Builder small, however many records there are. The records must come roughly in the order
// of their terms (see logs.Batch); Late counts those that came too late.
type Bounds struct {
	// Records is how many records are held before the oldest rounds are built, and their records dropped.
	Records int
	// Steps reports whether the round of a term keeps its Steps, Messages and all that a list does not tell. Nil: no
	// round does.
	Steps func(term uint64) bool
	// Retain is called with those rounds of one group that are over, in the order of their terms. It returns those that
	// the History shall have. Nil: all of them.
	Retain func(over []*Round) []*Round
	// Newest is how many of those a group keeps at most: the newest. 0 for all.
	Newest int
	// Whole reports whether the other lists of the History are about all records, too; with Newest, about the time of
	// the rounds that are kept, and the leadership before it.
	Whole bool
	// About is a node of which more is kept unless they are Whole, 0 for none: all terms that it led, with one follower
	// each, and how the last one ended.
	About uint64
}

// NewBoundedBuilder returns an empty Builder with these Bounds. The totals of its History are about all records, and
// its Findings too; Rounds are those that Retain chose, and all other lists have what is about the last records, unless
// they are Whole.
func NewBoundedBuilder(bounds Bounds) *Builder {
	b := NewBriefBuilder()
	b.bounds = &bounds
	return b
}

// retire builds the oldest rounds, so that few of the records that are held are left: those tell how the rounds ended,
// and are surveyed again. It keeps what Bounds want.
func (g *group) retire() {
	g.remember(nil)
	over := g.excess()
	if len(over) == 0 {
		g.survey(slices.Sorted(maps.Keys(g.open)))
	} else {
		g.conclude(over)
	}
	g.dropFolded()
	g.tried = 2 * g.held
}

// excess returns the lowest terms, whose records are too many to be held, or which are too many themselves. The last of
// them has a leader, if one of them has.
func (g *group) excess() []uint64 {
	terms := slices.Sorted(maps.Keys(g.open))
	led, enough := 0, 0
	left, most := g.held, min(g.bounds.Records/2, max(g.bounds.Records/8, keepRecords))
	for i, term := range terms[:max(0, len(terms)-2)] {
		if left <= most && len(terms)-i <= keepTerms {
			break
		}
		t := g.open[term]
		left -= len(t.entries) + len(t.folded)
		if enough = i + 1; t.led {
			led = i + 1
		}
	}
	if led > 0 {
		return terms[:led]
	}
	return terms[:enough]
}

// dropFolded drops the receipts that changed nothing, and whose messages are in no record that is held. Only records
// that changed nothing either sent them.
func (g *group) dropFolded() {
	for _, t := range g.open {
		before := len(t.folded)
		t.folded = slices.DeleteFunc(t.folded, func(got receipt) bool {
			return len(g.pairing.same(&got)) == 0
		})
		g.held -= before - len(t.folded)
	}
}

// keep adds the findings of rounds that were built, and those between rounds, to what the History shall have.
func (p *past) keep(built []*Round, between []Finding) {
	for _, r := range built {
		p.findings = append(p.findings, r.Findings...)
	}
	for _, f := range between {
		p.findings = append(p.findings, f)
		switch r := p.round(f.Term); {
		case r != nil:
			r.Findings = append(r.Findings, f)
		case !p.has(f.Term):
			p.loose = append(p.loose, f)
		}
	}
}

// retain keeps those of the rounds that are over that Bounds want.
func (g *group) retain(over []*Round) {
	p := g.past
	p.kept = append(p.kept, over...)
	if g.bounds.Retain != nil {
		p.kept = g.bounds.Retain(p.kept)
	}
	if old := len(p.kept) - g.bounds.Newest; g.bounds.Newest > 0 && old > 0 {
		p.left += old
		p.kept = slices.Clone(p.kept[old:])
		p.dropBefore(p.kept[0].Term)
	}
}

// dropBefore drops what was before a term, apart from the last leadership before it.
func (p *past) dropBefore(term uint64) {
	var last Leadership
	for key, r := range p.leaderships {
		if key.term < term && key.term >= last.Term && !r.From.IsZero() {
			last = r
		}
	}
	maps.DeleteFunc(p.leaderships, func(key leadershipKey, _ Leadership) bool { return key.term < last.Term })
	p.first = last.From
	p.incidents = slices.DeleteFunc(p.incidents, func(in Incident) bool { return in.Until.Before(p.first) })
}

// round returns the round of a term, nil if it is not kept.
func (p *past) round(term uint64) *Round {
	for _, list := range [][]*Round{p.kept, p.recent} {
		i, found := slices.BinarySearchFunc(list, term, func(r *Round, term uint64) int {
			return cmp.Compare(r.Term, term)
		})
		if found {
			return list[i]
		}
	}
	return nil
}

// whole reports whether what is over is kept for the lists of the History.
func (g *group) whole() bool { return g.bounds != nil && g.bounds.Whole }

// about returns the node of which more is kept than of others, 0 for none.
func (g *group) about() uint64 {
	if g.bounds == nil || g.bounds.Whole {
		return 0
	}
	return g.bounds.About
}

// keepIncident keeps a change of leadership that is over: each one, or the last one and that with which the node was
// last replaced that the History is about.
func (g *group) keepIncident(in Incident) {
	p, id := g.past, g.about()
	switch {
	case g.whole():
	case id == 0:
		return
	default:
		p.incidents = slices.DeleteFunc(p.incidents, func(was Incident) bool {
			return was.Former != id || in.Former == id
		})
	}
	in.rounds = nil
	p.incidents = append(p.incidents, in)
}

// keepLeaderships keeps the leaderships that began before the present one, as they are known now, unless more was known
// of them before. If the History is about one node, it keeps its own, and those of the highest term.
func (g *group) keepLeaderships() {
	p, id := g.past, g.about()
	if !g.whole() && id == 0 || p.former == nil {
		return
	}
	if p.leaderships == nil {
		p.leaderships = map[leadershipKey]Leadership{}
	}
	for _, r := range g.list {
		key := leadershipKey{r.Leader, r.Term}
		was, kept := p.leaderships[key]
		if !r.From.Before(p.former.From) || kept && (r.First != was.First || len(r.Followers) < len(was.Followers)) {
			continue
		}
		r := *r
		r.life = nil
		if id != 0 {
			r.Followers = slices.Clone(r.Followers[:min(1, len(r.Followers))])
		}
		if id != 0 && r.Leader != id && !p.keepHighest(key) {
			continue
		}
		p.leaderships[key] = r
	}
}

// keepHighest reports whether no term above that is kept of other nodes than the one that the History is about, and
// drops those below.
func (p *past) keepHighest(key leadershipKey) bool {
	if len(p.highest) > 0 && key.term < p.highest[0].term {
		return false
	}
	if len(p.highest) > 0 && key.term > p.highest[0].term {
		for _, low := range p.highest {
			delete(p.leaderships, low)
		}
		p.highest = p.highest[:0]
	}
	if !slices.Contains(p.highest, key) {
		p.highest = append(p.highest, key)
	}
	return true
}

// keepEvents keeps what happened to a process before the horizon.
func (g *group) keepEvents(l *life, horizon time.Time) {
	if !g.whole() {
		return
	}
	l.told = slices.DeleteFunc(g.allEvents(l), func(e LifeEvent) bool {
		return !e.At.Before(horizon) || e.At.Before(g.past.first)
	})
	l.forgot = horizon
}

// overBy reports whether nothing happened to the process since the time at.
func (l *Life) overBy(at time.Time) bool {
	return l.Until.Before(at) && !slices.ContainsFunc(l.Events, func(e LifeEvent) bool { return !e.At.Before(at) })
}

// allEvents returns what happened to the process, with what was kept.
func (g *group) allEvents(l *life) []LifeEvent {
	return append(slices.Clone(l.told), slices.DeleteFunc(slices.Clone(g.events(l)), func(e LifeEvent) bool {
		return e.At.Before(l.forgot)
	})...)
}
