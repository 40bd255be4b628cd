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
	// How many marks, leaderships, happenings, lives and rounds are kept once their rounds are over.
	keepMarks, keepLeaderships, keepHappenings, keepLives, keepRounds = 2048, 64, 256, 8, 64
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
	}
	var over []uint64
	for _, term := range slices.Sorted(maps.Keys(g.open)) {
		t := g.open[term]
		quiet := calm && t.calm == len(t.entries)
		if calm {
			t.calm = len(t.entries)
		}
		settled := g.clock-t.clock > settle.Microseconds() || quiet
		if term > led || !settled && term != 0 {
			break // and what comes after it waits for its turn
		}
		over = append(over, term)
	}
	if len(over) == 0 {
		return nil, nil
	}
	g.survey(slices.Sorted(maps.Keys(g.open)))
	for _, term := range over {
		t := g.open[term]
		if r := g.round(t, g.nextTerm(term)); r != nil {
			ended = append(ended, r)
			g.stream.recent = append(g.stream.recent, r)
		}
		g.stream.built[term] = t.clock
	}
	for _, term := range over {
		g.recycle(g.open[term])
	}
	if len(ended) > 0 {
		attach(g.incidents(g.stream.recent))
		between = g.news()
		g.forget()
	}
	return ended, between
}

// Leaderless returns, for each cluster in which nobody leads at present, as far as the records go, the change of
// leadership that has not ended. Call Ended before.
func (b *Builder) Leaderless() (open []Vacancy) {
	for _, g := range b.sorted() {
		g.survey(slices.Sorted(maps.Keys(g.open)))
		var rounds []*Round
		if g.stream != nil {
			rounds = g.stream.recent
		}
		incidents := g.incidents(rounds)
		if n := len(incidents); n > 0 && incidents[n-1].Leader == 0 {
			open = append(open, Vacancy{g.key.cluster, g.key.algo, g.key.run, incidents[n-1]})
		}
	}
	return open
}

// Vacancy is a time in which nobody leads a cluster.
type Vacancy struct {
	Cluster   string `json:"cluster"`
	Algorithm string `json:"algorithm"`
	Run       int    `json:"run,omitempty"`
	Incident
}

// nextTerm returns the term after the given one of which there are records, 0 for none.
func (g *group) nextTerm(term uint64) (next uint64) {
	for other := range g.open {
		if other > term && (next == 0 || other < next) {
			next = other
		}
	}
	return next
}

// late counts a record of a round that was built already.
func (g *group) late(rec *trace.Record, l *life, reasons []reason, why []string, term uint64) {
	e := &entry{}
	e.fill(rec, l, reasons, why)
	if e.micros() <= g.stream.built[term] && term > 0 {
		g.stream.after++
	}
	g.clock = max(g.clock, e.micros())
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
	for _, m := range g.nodes {
		for _, l := range m.lives[:max(0, len(m.lives)-keepLives)] {
			delete(m.byIncarnation, l.incarnation)
		}
		m.lives = keepLast(m.lives, keepLives)
		for _, l := range m.lives {
			l.marks = keepLast(l.sorted(), keepMarks)
			l.beliefs = keepLast(l.allBeliefs(), keepLeaderships)
			l.happenings = keepLast(l.allHappenings(), keepHappenings)
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
