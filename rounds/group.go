package rounds

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// group collects the records of one cluster under one algorithm.
type group struct {
	key       groupKey
	guarantee string
	records   int
	newest    time.Time // wall time of the newest record, by arrival
	nodes     map[uint64]*member
	open      map[uint64]*log // by term
	clock     int64           // the highest reading of the hybrid clock, in µs
	stream    *stream         // nil unless rounds are told while records come in
	deaths    []death
	mended    mended
	story     *story
	spare     []*entry // of rounds that are told
}

// member is what is known of one node while records come in.
type member struct {
	lives     []*life
	bySession map[string]*life
	current   *life
	// The belief of the last record that came in.
	term, leader uint64
}

// log holds the records of one term until its round is told.
type log struct {
	term    uint64
	entries []*entry
	// folded are the ids of messages whose receipts changed nothing: they
	// arrived, and that is all there is to say.
	folded map[receipt]bool
	clock  int64 // the highest reading of the entries, in µs
	led    bool  // somebody leads it
	calm   int   // the entries there were when Ended was last asked
}

// lease is what an office guarantees.
const lease = "lease"

func newGroup(key groupKey, brief bool) *group {
	nodes := map[uint64]*member{}
	g := &group{key: key, nodes: nodes, open: map[uint64]*log{}, story: newStory(nodes)}
	g.story.brief = brief
	return g
}

// restarts reports whether rec begins another simulated run: a run's records
// are in the order of its one clock.
func (g *group) restarts(rec *trace.Record) bool { return rec.Time.Before(g.newest) }

func (g *group) add(rec *trace.Record, text bool) {
	m := g.nodes[rec.Node]
	if m == nil {
		m = &member{bySession: map[string]*life{}}
		g.nodes[rec.Node] = m
	}
	l := m.life(rec)
	l.text = l.text || text
	if !l.add(rec) {
		return // seen already
	}
	g.records++
	g.newest = rec.Time
	if g.guarantee == "" || rec.Guarantee == lease { // which text tells late
		g.guarantee = rec.Guarantee
	}
	settled := m.term == rec.Term && m.leader == rec.Leader && rec.Leader != 0
	m.term, m.leader = rec.Term, rec.Leader
	g.mended.note(rec)
	chatter := settled && isChatter(rec)
	reasons, why := reasonsOf(rec)
	term := termOf(rec, reasons)
	if g.stream.has(term) {
		if !chatter {
			g.late(rec, l)
		}
		return
	}
	t := g.log(term)
	if chatter {
		t.fold(rec)
		return
	}
	e := g.entry()
	e.fill(rec, l)
	e.reasons, e.why = reasons, why
	g.clock = max(g.clock, e.micros())
	t.entries = append(t.entries, e)
	t.clock = max(t.clock, e.micros())
	t.led = t.led || e.leader != 0 && (rec.Guarantee != lease || e.change != "" || e.token == term)
}

// termOf is the term whose round the record is of. Whoever asks for the office
// while nobody holds it, and whoever is asked, is in the term before: it enters
// the one that is asked for with its vote.
func termOf(rec *trace.Record, reasons []reason) uint64 {
	if rec.Guarantee != lease || rec.Leader != 0 {
		return rec.Term
	}
	for i := range reasons {
		why := &reasons[i]
		if _, ok := decided[algorithms.Votes](why); ok {
			return rec.Term // the vote is the graver
		}
		if stands, ok := decided[algorithms.Stands](why); ok && why.number(stands.Term) > rec.Term {
			return why.number(stands.Term)
		}
		if answers, ok := decided[algorithms.Answers](why); ok && why.number(answers.Term) > rec.Term {
			return why.number(answers.Term)
		}
	}
	return rec.Term
}

// entriesAtOnce is how many entries there is room made for at a time.
const entriesAtOnce = 64

// entry is room for one: that of a round that was told, if there is any.
func (g *group) entry() *entry {
	if len(g.spare) == 0 {
		room := make([]entry, entriesAtOnce)
		for i := range room {
			g.spare = append(g.spare, &room[i])
		}
	}
	last := len(g.spare) - 1
	e := g.spare[last]
	g.spare = g.spare[:last]
	return e
}

// recycle takes the entries of a round that was told back.
func (g *group) recycle(t *log) {
	for _, e := range t.entries {
		*e = entry{}
	}
	g.spare = append(g.spare, t.entries...)
	delete(g.open, t.term)
}

// fold keeps of a record that changed nothing what others need.
func (t *log) fold(rec *trace.Record) {
	if rec.MsgID == "" {
		return
	}
	if t.folded == nil {
		t.folded = map[receipt]bool{}
	}
	t.folded[receipt{rec.MsgID, rec.Node}] = true
}

func (g *group) log(term uint64) *log {
	t := g.open[term]
	if t == nil {
		t = &log{term: term}
		g.open[term] = t
	}
	return t
}

// life is the process that wrote rec. Records that name no session begin
// another life with another start.
func (m *member) life(rec *trace.Record) *life {
	session := rec.Session
	if c := m.current; c != nil && c.session == session {
		if session != "" || rec.Seq != 1 || rec.Event != "start" {
			return c
		}
	}
	if l := m.bySession[session]; l != nil && session != "" {
		m.current = l
		return l
	}
	m.current = &life{node: rec.Node, session: strings.Clone(session)}
	m.lives = append(m.lives, m.current)
	m.bySession[m.current.session] = m.current
	return m.current
}

// at is the process that lived at t, by its records, or else the last one that
// began before; nil for none.
func (m *member) at(t time.Time, fix clockFix) *life {
	i := sort.Search(len(m.lives), func(i int) bool {
		return fix.at(m.lives[i].node, m.lives[i].from).After(t)
	})
	if i == 0 {
		return nil
	}
	return m.lives[i-1]
}

// tell ends the collecting: every round is told, the lowest term first. All
// messages are measured before, since clocks are judged by them.
func (g *group) tell() *Group {
	out := &Group{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee, Run: g.key.run,
		Rounds: []*Round{},
	}
	for _, m := range g.nodes {
		slices.SortFunc(m.lives, byBeginning)
	}
	terms := slices.Sorted(maps.Keys(g.open))
	for _, term := range terms {
		g.story.measure(g.open[term])
	}
	g.fixClocks()
	for _, term := range terms {
		if r := g.story.tell(g, g.open[term]); r != nil {
			out.Rounds = append(out.Rounds, r)
		}
		delete(g.open, term)
	}
	g.story.finish(g, out)
	return out
}

// fixClocks judges the clocks by what was measured. A simulated run writes the time
// of its one clock.
func (g *group) fixClocks() {
	if g.key.run == 0 {
		g.story.fix = g.story.ways.fix()
	}
}

// tellTerm tells one round while more records come in.
func (g *group) tellTerm(t *log) *Round {
	g.story.measure(t)
	g.fixClocks()
	return g.story.tell(g, t)
}
