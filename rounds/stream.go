package rounds

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Rounds that are told while records come in. What is kept is then bounded by
// the rounds that are open, as long as the records come roughly in the order of
// their clocks.

const (
	// settle is how far the cluster's clock must be beyond the last record of a
	// round before the round is over for sure: logs of several nodes reach us at
	// different times.
	settle = 10 * time.Second
	// keepMarks, keepReigns, keepLives and keepRounds bound what is kept of what
	// is over.
	keepMarks, keepReigns, keepLives, keepRounds = 2048, 64, 8, 64
)

// stream is what a group keeps of the rounds that it told.
type stream struct {
	told   map[uint64]int64 // by term, the clock of its last record then
	recent []*Round
	said   map[string]bool // findings
	after  int             // records that came too late for their rounds
}

func (s *stream) has(term uint64) bool {
	if s == nil {
		return false
	}
	_, told := s.told[term]
	return told
}

// Ended tells the rounds that are over, the lowest terms first, and what was
// found wrong between rounds since the last call; it forgets them then. A round
// is over when it has a leader, or a later one has, and the records have moved
// on by ten seconds. calm says that time has passed since the last call in which
// records could have come: then a round with a leader and no new record since is
// over, too.
func (b *Builder) Ended(calm bool) (told []*Round, between []Finding) {
	for _, g := range b.sorted() {
		if g.stream == nil {
			g.stream = &stream{told: map[uint64]int64{}, said: map[string]bool{}}
			g.deaths = append(g.deaths, b.deaths[g.key.cluster]...)
		}
		r, f := g.ended(calm)
		told, between = append(told, r...), append(between, f...)
	}
	return told, between
}

// Late is how many records came after their rounds had been told.
func (b *Builder) Late() int {
	n := 0
	for _, g := range b.groups {
		if g.stream != nil {
			n += g.stream.after
		}
	}
	return n
}

func (g *group) ended(calm bool) (told []*Round, between []Finding) {
	led := uint64(0) // the highest term with a leader
	for term, t := range g.open {
		if t.led {
			led = max(led, term)
		}
		g.story.top = max(g.story.top, term)
	}
	for _, term := range slices.Sorted(maps.Keys(g.open)) {
		t := g.open[term]
		quiet := calm && t.calm == len(t.entries)
		if calm {
			t.calm = len(t.entries)
		}
		over := g.clock-t.clock > settle.Microseconds() || quiet
		if term > led || !over && term != 0 {
			break // and what comes after it waits for its turn
		}
		if r := g.tellTerm(t); r != nil {
			told = append(told, r)
			g.stream.recent = append(g.stream.recent, r)
		}
		g.stream.told[term] = t.clock
		g.recycle(t)
	}
	if len(told) > 0 {
		between = g.news()
		g.forget()
	}
	return told, between
}

// late takes a record of a round that has been told: what it says of the
// node's belief still counts.
func (g *group) late(rec *trace.Record, l *life) {
	e := &entry{}
	e.fill(rec, l)
	e.reasons, e.why = reasonsOf(rec)
	if e.micros() <= g.stream.told[rec.Term] && rec.Term > 0 {
		g.stream.after++
	}
	g.clock = max(g.clock, e.micros())
	g.story.step(&Round{Guarantee: g.guarantee, Term: rec.Term, Steps: g.story.steps([]*entry{e}, nil)}, 0)
}

// news are the findings between rounds that were not said before.
func (g *group) news() (news []Finding) {
	for _, f := range g.between(g.stream.recent, false) {
		if !g.stream.said[f.key()] {
			g.stream.said[f.key()] = true
			news = append(news, f)
		}
	}
	return news
}

// key tells findings apart that may be found again.
func (f Finding) key() string { return fmt.Sprint(f.Name, f.Term) }

// forget drops what only rounds that are over needed.
func (g *group) forget() {
	g.stream.recent = keepLast(g.stream.recent, keepRounds)
	s := g.story
	for _, r := range s.list[:max(0, len(s.list)-keepReigns)] {
		delete(s.reigns, reignKey{r.Leader, r.Term})
	}
	s.list = keepLast(s.list, keepReigns)
	for _, m := range g.nodes {
		for _, l := range m.lives[:max(0, len(m.lives)-keepLives)] {
			delete(m.bySession, l.session)
		}
		m.lives = keepLast(m.lives, keepLives)
		for _, l := range m.lives {
			l.marks = keepLast(l.marks, keepMarks)
			l.fell = keepLast(l.fell, 1)
		}
	}
	g.deaths = keepLast(g.deaths, keepReigns)
}

// keepLast copies the end of a list, so that the rest can go.
func keepLast[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}
