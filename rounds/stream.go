package rounds

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Rounds that are built while records come in. Memory is then bounded by the rounds that
// are open, as long as the records come roughly in the order of their clocks.

const (
	// settle is how far the newest record must be beyond the last record of a round, by
	// the hybrid clock, before the round is over: logs of several nodes arrive at
	// different times.
	settle = 10 * time.Second
	// How many marks, leaderships, lives and rounds are kept once their rounds are over.
	keepMarks, keepLeaderships, keepLives, keepRounds = 2048, 64, 8, 64
)

// stream is what a group keeps of the rounds that it built while records came in.
type stream struct {
	built  map[uint64]int64 // by term: the hybrid clock, in µs, of the last record when its round was built
	recent []*Round
	said   map[string]bool // the keys of the findings that were returned
	after  int             // records that came too late for their rounds
}

func (s *stream) has(term uint64) bool {
	if s == nil {
		return false
	}
	_, built := s.built[term]
	return built
}

// Ended returns the rounds that are over, the lowest terms first, and the findings between rounds
// since the last call. Then it forgets them. A round is over when this round or a later one has a
// leader, and the records have moved on by ten seconds. If calm is true, records had time to come
// since the last call: then the ten seconds are not needed for a round that got no record since
// that call.
func (b *Builder) Ended(calm bool) (ended []*Round, between []Finding) {
	for _, g := range b.sorted() {
		if g.stream == nil {
			g.stream = &stream{built: map[uint64]int64{}, said: map[string]bool{}}
			g.deaths = append(g.deaths, b.deaths[g.key.cluster]...)
		}
		r, f := g.ended(calm)
		ended, between = append(ended, r...), append(between, f...)
	}
	return ended, between
}

// Late counts the records that came after their rounds had been returned by Ended.
func (b *Builder) Late() int {
	n := 0
	for _, g := range b.groups {
		if g.stream != nil {
			n += g.stream.after
		}
	}
	return n
}

func (g *group) ended(calm bool) (ended []*Round, between []Finding) {
	led := uint64(0) // the highest term with a leader
	for term, t := range g.open {
		if t.led {
			led = max(led, term)
		}
		g.state.top = max(g.state.top, term)
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
		if r := g.buildRound(t); r != nil {
			ended = append(ended, r)
			g.stream.recent = append(g.stream.recent, r)
		}
		g.stream.built[term] = t.clock
		g.recycle(t)
	}
	if len(ended) > 0 {
		between = g.news()
		g.forget()
	}
	return ended, between
}

// late takes a record of a round that was built already: the node's belief still counts.
func (g *group) late(rec *trace.Record, l *life) {
	e := &entry{}
	reasons, why := reasonsOf(rec)
	e.fill(rec, l, reasons, why)
	if e.micros() <= g.stream.built[rec.Term] && rec.Term > 0 {
		g.stream.after++
	}
	g.clock = max(g.clock, e.micros())
	g.state.step(&Round{Guarantee: g.guarantee, Term: rec.Term, Steps: g.state.steps([]*entry{e}, nil)}, 0, e)
}

// news returns the findings between rounds that were not returned before.
func (g *group) news() (news []Finding) {
	for _, f := range g.between(g.stream.recent, false) {
		if !g.stream.said[f.key()] {
			g.stream.said[f.key()] = true
			news = append(news, f)
		}
	}
	return news
}

// key identifies a finding: it is the same when the finding is found again.
func (f Finding) key() string { return fmt.Sprint(f.Name, f.Term) }

// forget drops what is only needed for rounds that are over.
func (g *group) forget() {
	g.stream.recent = keepLast(g.stream.recent, keepRounds)
	s := g.state
	for _, r := range s.list[:max(0, len(s.list)-keepLeaderships)] {
		delete(s.leaderships, leadershipKey{r.Leader, r.Term})
	}
	s.list = keepLast(s.list, keepLeaderships)
	for _, m := range g.nodes {
		for _, l := range m.lives[:max(0, len(m.lives)-keepLives)] {
			delete(m.byIncarnation, l.incarnation)
		}
		m.lives = keepLast(m.lives, keepLives)
		for _, l := range m.lives {
			l.marks = keepLast(l.marks, keepMarks)
			l.fell = keepLast(l.fell, 1)
		}
	}
	g.deaths = keepLast(g.deaths, keepLeaderships)
}

// keepLast returns the last n elements of a list, copied so that the rest can be freed.
func keepLast[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}
