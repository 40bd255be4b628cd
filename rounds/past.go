package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// past is what a group keeps of the rounds that it built while records came in.
type past struct {
	built  map[uint64]int64 // by term: the hybrid clock, in µs, of the last record when its round was built
	recent []*Round         // the rounds since the last change of leadership that is over
	// unasked are those of the last changes that may be found as flapping together with later ones, and former is the
	// leadership that began with the last change.
	unasked []Incident
	former  *Leadership
	sum     Leaderless      // of all of them
	said    map[string]bool // the keys of the findings that were returned
	// led has who led which of the last terms, and rivals who is known to have led one since its round was over: one
	// more is, if rivalled. followed has whom others followed in these terms. Those in beside were followed only since
	// then, and besides are the findings of them.
	led, rivals map[uint64][]Winner
	followed    map[uint64][]uint64
	beside      []leadershipKey
	besides     []Finding
	rivalled    bool
	further     []Incident // those to further leaders of terms whose rounds were told before, which Further returns
	late        int        // records that came too late for their rounds

	kept            []*Round  // the rounds before recent that Bounds retain
	left            int       // how many rounds before these are not among the newest
	first           time.Time // from when on the other lists are kept
	incidents       []Incident
	leaderships     map[leadershipKey]Leadership // those that began before former
	highest         []leadershipKey              // see keepHighest
	findings, loose []Finding

	from time.Time       // of the first record, corrected
	ids  map[uint64]bool // of nodes that records named
}

// How much is kept at most of what is over, if it may still be needed.
const (
	keepMarks, keepBeliefs, keepHappenings, keepQuiet = 8192, 4096, 4096, 4096 // of each process
	keepLives, keepDeaths, keepChanges                = 256, 64, 64
	// of all processes, of rounds that may be over: so many records, or so many terms if these have fewer
	keepRecords, keepTerms = 512, 16
)

// remember begins to keep a past. deaths are those that the Builder knows.
func (g *group) remember(deaths map[string][]death) {
	if g.past == nil {
		g.past = &past{
			built: map[uint64]int64{}, said: map[string]bool{}, ids: map[uint64]bool{},
			led: map[uint64][]Winner{}, rivals: map[uint64][]Winner{}, followed: map[uint64][]uint64{},
		}
	}
	if deaths != nil && len(g.past.built) == 0 {
		g.deaths = append(g.deaths, deaths[g.key.cluster]...)
	}
}

func (p *past) has(term uint64) bool {
	if p == nil {
		return false
	}
	_, built := p.built[term]
	return built
}

// conclude builds the rounds of some terms, and drops what is only needed for them. It returns the rounds, and the
// findings between rounds that are new.
func (g *group) conclude(over []uint64) (rounds []*Round, between []Finding) {
	if len(over) == 0 && !g.past.rivalled {
		return nil, nil
	}
	g.past.rivalled = false
	terms := slices.Sorted(maps.Keys(g.open))
	g.survey(terms)
	for i, term := range over { // the first of terms
		t := g.open[term]
		next := uint64(0)
		if i+1 < len(terms) {
			next = terms[i+1]
		}
		if r := g.round(t, next); r != nil {
			rounds = append(rounds, r)
			g.past.noteLeaders(r, g.byTerm[term])
			for _, f := range r.Findings {
				g.past.said[f.key()] = g.past.said[f.key()] || f.beside != 0
			}
		}
		g.past.built[term] = t.clock
	}
	g.keepReceipts(over)
	for _, term := range over {
		g.recycle(g.open[term])
	}
	g.past.recent = append(g.past.recent, rounds...)
	slices.SortStableFunc(g.past.recent, func(a, b *Round) int { return cmp.Compare(a.Term, b.Term) })
	incidents := g.incidents(g.past.recent)
	attach(incidents)
	between = g.news(incidents)
	if g.bounds != nil {
		g.past.keep(rounds, between)
	}
	g.close(incidents)
	g.forget()
	return rounds, between
}

// close keeps the changes of leadership that are over, and their rounds, apart from those that are not.
func (g *group) close(incidents []Incident) {
	p := g.past
	over := 0
	for _, in := range incidents {
		if in.Leader == 0 || !p.has(in.Term) {
			break
		}
		in.attach() // and not its place among many
		of := func(r *Round) bool { return r.further && r.of == nil }
		if g.bounds == nil && slices.ContainsFunc(in.rounds, of) {
			p.further = append(p.further, in)
		}
		p.sum.add(&in)
		g.keepIncident(in)
		over++
		p.former = g.leaderships[leadershipKey{in.Leader, in.Term}]
	}
	p.sum.AtLeast = p.sum.AtLeast || over > 0 && g.changesUntold
	g.keepLeaderships()
	_, p.unasked = flapping(g.unasked(incidents[:over]), false)
	p.unasked = keepLast(p.unasked, keepChanges)
	if p.former == nil {
		return
	}
	n := 0
	for n < len(p.recent) && p.recent[n].Term <= p.former.Term {
		n++
	}
	if g.bounds != nil {
		g.retain(p.recent[:n])
	}
	p.recent = slices.Clone(p.recent[n:])
}

// news returns the findings between rounds that were not returned before. With Bounds, those of a term whose round is
// still to be built are found again then.
func (g *group) news(incidents []Incident) (news []Finding) {
	for _, f := range g.between(incidents, false) {
		early := g.bounds != nil && g.open[f.Term] != nil
		if !g.past.said[f.key()] && !early {
			g.past.said[f.key()] = true
			news = append(news, f)
		}
	}
	return news
}

// key identifies a finding: it is the same when the finding is found again.
func (f Finding) key() string {
	if f.beside != 0 {
		return fmt.Sprint(f.Name, f.Term, f.beside)
	}
	if f.Name == SameID || f.Name == TwoLeaders { // of no term, or by the word of nodes that recovered
		return fmt.Sprint(f.Name, f.Records)
	}
	return fmt.Sprint(f.Name, f.Term)
}

// forget drops what is only needed for rounds that are over: all that was before the last leadership that is settled,
// and before the first record that is still held.
func (g *group) forget() {
	horizon := time.Time{}
	if former := g.settledLeadership(); former != nil {
		horizon = former.From
	}
	held := map[*life]bool{} // the processes of the records that are held
	for _, t := range g.open {
		for _, e := range t.entries {
			held[e.life] = true
			if at := g.fix.at(e.Ref.Node, e.Wall); at.Before(horizon) {
				horizon = at
			}
		}
	}
	horizon = horizon.Add(-settle)
	if g.bounds == nil {
		g.existed = nil // what is read as it grows is not read again, era by era
	}
	g.deaths = keepLast(g.deaths, keepDeaths)
	for id := range g.drops {
		g.past.ids[id] = true
	}
	for _, m := range g.nodes {
		g.past.note(m, g.fix)
		old := 0
		for old < len(m.lives)-1 && !held[m.lives[old]] &&
			(g.fix.at(m.lives[old].node, m.lives[old+1].from).Before(horizon) || len(m.lives)-old > keepLives) {
			old++
		}
		if old > 0 {
			g.forgetLives(m, old)
		}
		m.forgotten.told = slices.DeleteFunc(m.forgotten.told, func(l Life) bool { return l.overBy(g.past.first) })
		for _, l := range m.lives {
			g.keepEvents(l, horizon)
			l.forget(horizon, g.fix)
		}
	}
}

// forgetLives drops so many of the node's processes that wrote records, and those without that began before the next.
func (g *group) forgetLives(m *member, n int) {
	for _, l := range m.all() {
		if l == m.lives[n] {
			break
		}
		if g.whole() {
			m.forgotten.told = append(m.forgotten.told, g.life(l, m.forgotten.kept))
		}
		m.forgotten.add(l)
		delete(m.byIncarnation, l.incarnation)
		delete(g.ups.silent, l.ref(0))
		delete(g.ups.changed, l.ref(0))
		if former := g.past.former; former == nil || former.life != l {
			g.recycleLists(l)
		}
	}
	m.silent = slices.DeleteFunc(m.silent, func(l *life) bool { return l.place < m.lives[n].place })
	m.lives = slices.Clone(m.lives[n:])
}

// note keeps what a History says of all processes of a node.
func (p *past) note(m *member, fix clockFix) {
	for _, l := range m.lives {
		for i := range l.happenings {
			for _, id := range l.happenings[i].alive {
				p.ids[id] = true
			}
		}
		if first := fix.at(l.node, l.from); p.from.IsZero() || first.Before(p.from) {
			p.from = first
		}
	}
}

// settledLeadership returns the leadership with which the last change ended that is over, as it is known now. It
// returns nil if there is none.
func (g *group) settledLeadership() *Leadership {
	if g.past == nil || g.past.former == nil {
		return nil
	}
	then := g.past.former
	if now := g.leaderships[leadershipKey{then.Leader, then.Term}]; now != nil {
		return now
	}
	return then
}

// forgotten is what is left of processes.
type forgotten struct {
	lives   int
	records int
	last    uint64 // the highest number of a record
	lost    uint64 // records that are missing between others
	text    bool
	exposed bool
	told    []Life // the processes
	kept    kept
}

func (f *forgotten) add(l *life) {
	f.lives++
	f.kept = f.kept.then(l)
	if len(l.seen) == 0 {
		return
	}
	f.records += l.records()
	f.last = max(f.last, l.last())
	f.lost += l.missing()
	f.text, f.exposed = f.text || l.text, f.exposed || l.exposed
}

// forget drops what the process wrote before the horizon, apart from what it still believed then.
func (l *life) forget(horizon time.Time, fix clockFix) {
	before := func(m mark) bool { return fix.at(l.node, m.wall).Before(horizon) }
	marks := l.sorted()
	l.marks = thin(behind(marks, before), keepMarks)
	beliefs := l.allBeliefs()
	l.beliefs = keepLast(behind(beliefs, func(b belief) bool { return before(b.last) }), keepBeliefs)
	l.stances = keepLast(behind(l.allStances(), func(s stance) bool { return before(s.last) }), keepHappenings)
	l.voting = keepLast(behind(l.allVoting(), func(v voting) bool { return before(v.mark) }), keepHappenings)
	l.forgetHappenings(before, fix)
	l.quiet = keepLast(l.quiet, keepQuiet)
	l.unheeded = slices.DeleteFunc(l.unheeded, before)
	l.lent = slices.DeleteFunc(l.lent, func(kept lent) bool { return before(kept.mark) })
	l.releases = slices.DeleteFunc(l.releases, func(said release) bool { return before(said.mark) })
	l.woke = slices.DeleteFunc(l.woke, func(at time.Time) bool { return fix.at(l.node, at).Before(horizon) })
	from := l.marks[0].seq
	n, _ := slices.BinarySearchFunc(l.seen, from, compareSpan)
	if n < 2 {
		return
	}
	for i := 1; i < n; i++ {
		l.lost += l.seen[i].first - l.seen[i-1].last - 1
		l.holes = append(l.holes, l.gapAt(i))
	}
	l.holes = keepLast(l.holes, keepHappenings)
	all := span{l.seen[0].first, l.seen[n-1].last}
	l.seen = slices.Clone(l.seen[n-1:])
	l.seen[0] = all
}

// forgetHappenings keeps the happenings behind the horizon, the last one of each kind before it, and the evidence that
// was not taken back.
func (l *life) forgetHappenings(before func(mark) bool, fix clockFix) {
	all := l.allHappenings()
	if len(all) == 0 || !before(all[0].mark) {
		l.happenings = keepLast(all, keepHappenings)
		return
	}
	stays := map[uint64]bool{}
	for _, d := range l.dropsBy(fix) {
		if !d.back.IsZero() {
			continue
		}
		for _, ref := range d.Refs() {
			stays[ref.Seq] = true
		}
	}
	last := map[string]uint64{}
	view := uint64(0)
	for _, h := range all {
		if stays[h.seq] {
			stays[view] = true // from which the node was missing
		}
		if h.event == "peers" {
			view = h.seq
		}
		if before(h.mark) {
			last[h.event] = h.seq
		}
	}
	l.happenings = keepLast(slices.DeleteFunc(slices.Clone(all), func(h happening) bool {
		return before(h.mark) && !stays[h.seq] && last[h.event] != h.seq
	}), keepHappenings)
}

// behind drops the elements of a list before a horizon, apart from the last of those. The list keeps its memory: it
// will be as long again.
func behind[T any](list []T, before func(T) bool) []T {
	n := 0
	for n < len(list) && before(list[n]) {
		n++
	}
	return slices.Delete(list, 0, max(0, n-1))
}

// thin returns at most so many of the marks. Of those that lie so close together that a process seems to have written
// all the time, it keeps the first and the last.
func thin(marks []mark, most int) []mark {
	for near := 100 * time.Millisecond; len(marks) > most; near *= 4 {
		kept := marks[:1:1]
		for i := 1; i < len(marks)-1; i++ {
			was, m, next := kept[len(kept)-1], marks[i], marks[i+1]
			if m.own == was.own && m.round == was.round && next.wall.Sub(was.wall) < near && i < len(marks)-most/4 {
				continue
			}
			kept = append(kept, m)
		}
		marks = append(kept, marks[len(marks)-1])
	}
	return marks
}

// keepLast returns the last n elements of a list, copied so that the rest can be freed.
func keepLast[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}
