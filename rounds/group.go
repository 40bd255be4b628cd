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
	newest    time.Time // wall time of the record that came last
	nodes     map[uint64]*member
	open      map[uint64]*log // the terms that are not built yet
	clock     int64           // the highest reading of the hybrid clock, in µs
	stream    *stream         // nil unless rounds are built while records come in
	deaths    []death
	recovered recovered
	state     *clusterState
	spare     []*entry // entries of built rounds, to be used again
}

// member has the processes of one node while records come in.
type member struct {
	lives         []*life
	byIncarnation map[string]*life
	current       *life
	// The belief of the last record that came in.
	term, leader uint64
}

// log holds the records of one term until its round is built.
type log struct {
	term    uint64
	entries []*entry
	// folded has the receipts that changed nothing. Nothing else of their records is kept.
	folded map[receipt]bool
	clock  int64 // the highest reading of the entries, in µs
	led    bool  // somebody leads it
	calm   int   // how many entries there were at the last call of Ended with calm
}

// lease is the name that records give to the guarantee of leaders under a lease.
const lease = "lease"

func newGroup(key groupKey, brief bool) *group {
	nodes := map[uint64]*member{}
	g := &group{key: key, nodes: nodes, open: map[uint64]*log{}, state: newClusterState(nodes)}
	g.state.brief = brief
	return g
}

// restarts reports whether rec begins another simulated run: all records of one run
// are in the order of its clock.
func (g *group) restarts(rec *trace.Record) bool { return rec.Time.Before(g.newest) }

func (g *group) add(rec *trace.Record) {
	m := g.nodes[rec.Node]
	if m == nil {
		m = &member{byIncarnation: map[string]*life{}}
		g.nodes[rec.Node] = m
	}
	l := m.life(rec)
	l.text = l.text || rec.FromText
	if !l.add(rec) {
		return // it came before
	}
	g.records++
	g.newest = rec.Time
	if g.guarantee == "" || rec.Guarantee == lease { // text may tell late that leaders have leases
		g.guarantee = rec.Guarantee
	}
	settled := m.term == rec.Term && m.leader == rec.Leader && rec.Leader != 0
	m.term, m.leader = rec.Term, rec.Leader
	g.recovered.note(rec)
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
	e.fill(rec, l, reasons, why)
	g.clock = max(g.clock, e.micros())
	t.entries = append(t.entries, e)
	t.clock = max(t.clock, e.micros())
	t.led = t.led || e.Leader != 0 && (rec.Guarantee != lease || e.Change != "" || e.Token == term)
}

// termOf returns the term whose round the record belongs to. While nobody leads, a node that asks
// the voters, and a voter that is asked, still have the former term in their records: they enter
// the new term with their vote. Such a record belongs to the term that is asked for.
func termOf(rec *trace.Record, reasons []reason) uint64 {
	if rec.Guarantee != lease || rec.Leader != 0 {
		return rec.Term
	}
	for i := range reasons {
		why := &reasons[i]
		if _, ok := decided[algorithms.Votes](why); ok {
			return rec.Term // a vote decides more than an answer
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

// entriesAtOnce is how many entries are allocated at a time.
const entriesAtOnce = 64

// entry returns an empty entry. It reuses an entry of a round that was already built, if one is spare;
// otherwise it allocates new ones.
func (g *group) entry() *entry {
	if len(g.spare) == 0 {
		entries := make([]entry, entriesAtOnce)
		for i := range entries {
			g.spare = append(g.spare, &entries[i])
		}
	}
	last := len(g.spare) - 1
	e := g.spare[last]
	g.spare = g.spare[:last]
	return e
}

// recycle takes back the entries of a round that was built.
func (g *group) recycle(t *log) {
	for _, e := range t.entries {
		*e = entry{}
	}
	g.spare = append(g.spare, t.entries...)
	delete(g.open, t.term)
}

// fold drops a record that changed nothing, and remembers only that its message was received.
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

// life returns the process that wrote rec. If records name no incarnation, each start begins
// another process.
func (m *member) life(rec *trace.Record) *life {
	incarnation := rec.Incarnation
	if c := m.current; c != nil && c.incarnation == incarnation {
		if incarnation != "" || rec.Seq != 1 || rec.Event != "start" {
			return c
		}
	}
	if l := m.byIncarnation[incarnation]; l != nil && incarnation != "" {
		m.current = l
		return l
	}
	m.current = &life{node: rec.Node, incarnation: strings.Clone(incarnation)}
	m.lives = append(m.lives, m.current)
	m.byIncarnation[m.current.incarnation] = m.current
	return m.current
}

// at returns the last process that began no later than t, or nil if there is none.
func (m *member) at(t time.Time, fix clockFix) *life {
	i := sort.Search(len(m.lives), func(i int) bool {
		return fix.at(m.lives[i].node, m.lives[i].from).After(t)
	})
	if i == 0 {
		return nil
	}
	return m.lives[i-1]
}

// build builds every round, the lowest term first. Before that it measures the messages of all
// rounds, since they tell how far the clocks differ.
func (g *group) build() *Group {
	out := &Group{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee, Run: g.key.run,
		Rounds: []*Round{},
	}
	for _, m := range g.nodes {
		slices.SortFunc(m.lives, byBeginning)
	}
	terms := slices.Sorted(maps.Keys(g.open))
	for _, term := range terms {
		g.state.measure(g.open[term])
	}
	g.fixClocks()
	for i, term := range terms {
		next := uint64(0)
		if i+1 < len(terms) {
			next = terms[i+1]
		}
		if r := g.state.round(g, g.open[term], next); r != nil {
			out.Rounds = append(out.Rounds, r)
		}
		delete(g.open, term)
	}
	g.state.finish(g, out)
	return out
}

// fixClocks estimates the offsets of the clocks. A simulated run has one clock, which is right.
func (g *group) fixClocks() {
	if g.key.run == 0 {
		g.state.fix = g.state.delays.fix()
	}
}

// buildRound builds one round while more records come in.
func (g *group) buildRound(t *log) *Round {
	g.state.measure(t)
	g.fixClocks()
	next := uint64(0)
	for term := range g.open {
		if term > t.term && (next == 0 || term < next) {
			next = term
		}
	}
	return g.state.round(g, t, next)
}
