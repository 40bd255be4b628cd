package rounds

import (
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Rounds that are told while records come in. Memory is then bounded by the rounds that are open, as long as the
// records come roughly in the order of their clocks.

// settle is how far the newest record must be beyond the last record of a round, by the hybrid clock, before the round
// is over: logs of several nodes arrive at different times.
const settle = 10 * time.Second

// Ended returns the rounds that are over, the lowest terms first, and the findings between rounds
// since the last call. Then it forgets them. A round is over when this round or a later one has a
// leader, and the records have moved on by ten seconds. If calm is true, records had time to come
// since the last call: then the ten seconds are not needed for a round that got no record since
// that call, or in so many calls as Patient says. One that brought no leader is over with the next one that did.
func (b *Builder) Ended(calm bool) (ended []*Round, between []Finding) {
	for _, g := range b.sorted() {
		g.remember(b.deaths)
		r, f := g.conclude(g.settled(calm, b.patience))
		ended, between = append(ended, r...), append(between, f...)
	}
	return ended, between
}

// Patient has a round wait until it got no record in so many calls of Ended with calm.
func (b *Builder) Patient(calls int) { b.patience = calls }

// Late counts the records that came after the rounds that they belong to were over.
func (b *Builder) Late() int {
	n := 0
	for _, g := range b.groups {
		if g.past != nil {
			n += g.past.late
		}
	}
	return n
}

// settled returns the terms whose rounds are over: see Ended and Patient.
func (g *group) settled(calm bool, patience int) (over []uint64) {
	led := uint64(0) // the highest term with a leader
	for term, t := range g.open {
		if t.led {
			led = max(led, term)
		}
	}
	waits := false // a round that is not over, and those after it for their turn
	for _, term := range slices.Sorted(maps.Keys(g.open)) {
		t := g.open[term]
		quiet := calm && t.isQuiet(max(1, patience))
		settled := g.clock-t.clock > settle.Microseconds() || quiet
		if waits = waits || term > led || !settled && term != 0; !waits {
			over = append(over, term)
		}
	}
	// One line tells of a term that brought no leader and of the next one that does.
	for n := len(over) - 1; n >= 0 && !g.open[over[n]].led; n-- {
		over = over[:n]
	}
	return over
}

// isQuiet reports whether no record came in so many calls.
func (t *log) isQuiet(calls int) bool {
	if t.quiet++; t.calm != len(t.entries) {
		t.quiet, t.calm = 0, len(t.entries)
	}
	return t.quiet >= calls
}

// Leaderless returns, for each cluster in which nobody leads at present, as far as the records go, the change of
// leadership that has not ended, if the round of the term that was led before is over. Call Ended before.
func (b *Builder) Leaderless() (open []Vacancy) {
	for _, g := range b.sorted() {
		g.survey(slices.Sorted(maps.Keys(g.open)))
		var rounds []*Round
		if g.past != nil {
			rounds = g.past.recent
		}
		incidents := g.incidents(rounds)
		if n := len(incidents); n > 0 && incidents[n-1].Leader == 0 && !g.untold(incidents[n-1].FormerTerm) {
			open = append(open, g.vacancy(incidents[n-1]))
		}
	}
	return open
}

// Begun returns, for each cluster in which somebody leads at present, as far as the records go, the change to that
// leader, if it says itself that it leads and the round of its term is not over yet. Call Leaderless before.
func (b *Builder) Begun() (begun []Vacancy) {
	for _, g := range b.sorted() {
		var rounds []*Round
		if g.past != nil {
			rounds = g.past.recent
		}
		incidents := g.incidents(rounds)
		if len(incidents) == 0 {
			continue
		}
		in := incidents[len(incidents)-1]
		led := g.leaderships[leadershipKey{in.Leader, in.Term}]
		if led != nil && g.untold(led.Term) && !led.First.IsZero() && led.End.IsZero() {
			in.Until, in.Records = led.From, []Ref{led.First}
			begun = append(begun, g.vacancy(in))
		}
	}
	return begun
}

// untold reports whether the round of a term that was led is not over yet.
func (g *group) untold(term uint64) bool { return term > 0 && g.open[term] != nil }

// Clocks returns for each cluster whose clocks differ which nodes' clocks are not right, and the nodes. Call Leaderless
// before.
func (b *Builder) Clocks() (differ []*Group) {
	for _, g := range b.sorted() {
		if !g.fix.differ() {
			continue
		}
		out := &Group{Cluster: g.key.cluster, Algorithm: g.key.algo, Run: g.key.run, Clocks: g.fix.list()}
		for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
			out.Nodes = append(out.Nodes, Node{ID: id, Records: 1})
		}
		differ = append(differ, out)
	}
	return differ
}

// Further returns the changes of leadership since the last call to further leaders of terms whose rounds had ended
// before. Call Ended before.
func (b *Builder) Further() (further []Vacancy) {
	for _, g := range b.sorted() {
		if g.past == nil {
			continue
		}
		for _, in := range g.past.further {
			further = append(further, g.vacancy(in))
		}
		g.past.further = nil
	}
	return further
}

// Vacancy is a time in which nobody leads a cluster, or a change of its leader.
type Vacancy struct {
	Cluster   string `json:"cluster"`
	Algorithm string `json:"algorithm"`
	Run       int    `json:"run,omitempty"`
	Incident

	Up []uint64 `json:"-"` // the nodes that run, as far as the records tell
}

func (g *group) vacancy(in Incident) Vacancy {
	return Vacancy{Cluster: g.key.cluster, Algorithm: g.key.algo, Run: g.key.run, Incident: in, Up: g.up()}
}

// Running returns the nodes that run, as far as the records tell.
func (g *Group) Running() (ids []uint64) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if last := len(n.Lives) - 1; n.Records > 0 && (last < 0 || runs(n.Lives[last].Events)) {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// runs reports whether the last of the events of a process is not that it ended, fell silent or was paused.
func runs(events []LifeEvent) bool {
	n := len(events)
	return n == 0 || !slices.Contains([]LifeEventKind{Ended, Silent, Paused}, events[n-1].Kind)
}

// up returns what Running does, of the records that are held.
func (g *group) up() (ids []uint64) {
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		l := g.current(id)
		if l == nil || l.next != nil {
			continue
		}
		if runs(g.events(l)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// late counts a record of a round that was built already.
func (g *group) late(rec *trace.Record, l *life, reasons []reason, why []string, term uint64) {
	e := &entry{}
	e.fill(rec, l, reasons, why)
	if e.micros() <= g.past.built[term] && term > 0 {
		g.past.late++
	}
	g.clock = max(g.clock, e.micros())
	g.noteRival(e, term)
}
