package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Builder makes a History of records. It belongs to one goroutine.
type Builder struct {
	groups map[groupKey]*group
	last   *group
	runs   map[string]int // of simulated runs, by algorithm
	deaths map[string][]death
	brief  bool
}

// groupKey is what makes records belong together.
type groupKey struct {
	cluster, algo string
	run           int
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		groups: map[groupKey]*group{}, runs: map[string]int{}, deaths: map[string][]death{},
	}
}

// NewBriefBuilder returns an empty Builder whose Rounds have neither Steps nor
// Messages, but all that was made of them: whoever prints a line a round needs
// no more, and gets it faster and in less memory.
func NewBriefBuilder() *Builder {
	b := NewBuilder()
	b.brief = true
	return b
}

// Add takes one record. Records may come in any order, and twice. The Builder
// keeps no reference to rec, but to what its fields refer to.
func (b *Builder) Add(rec *trace.Record) { b.group(rec).add(rec, false) }

// AddText takes a record that was read from text for people. Such records have
// no numbers of their own, so that no gap is seen.
func (b *Builder) AddText(rec *trace.Record) { b.group(rec).add(rec, true) }

// Death says that a node of the cluster died at an instant of true time, which
// no record can tell. It must be called before the Round that follows is told.
// Of simulated runs, which have no label, it is about the one that is being
// read.
func (b *Builder) Death(cluster string, node uint64, at time.Time) {
	d := death{node, at}
	if cluster == "" && b.last != nil {
		b.last.deaths = append(b.last.deaths, d)
		return
	}
	b.deaths[cluster] = append(b.deaths[cluster], d)
}

// group is where rec belongs.
func (b *Builder) group(rec *trace.Record) *group {
	key := groupKey{cluster: rec.Cluster, algo: rec.Algo}
	simulated := isSimulated(rec)
	if simulated {
		key.run = max(1, b.runs[key.algo])
	}
	g := b.last
	if g == nil || g.key != key {
		g = b.groups[key]
	}
	if simulated && g != nil && g.restarts(rec) {
		key.run++
		g = nil
	}
	if g == nil {
		g = newGroup(key, b.brief)
		b.groups[key], b.runs[key.algo] = g, key.run
	}
	b.last = g
	return g
}

// isSimulated reports whether rec is of a simulated run: those have no label,
// and begin with the year 2000.
func isSimulated(rec *trace.Record) bool { return rec.Cluster == "" && rec.Time.Year() == 2000 }

// Records is how many records the Builder has taken, repeated ones aside.
func (b *Builder) Records() int {
	n := 0
	for _, g := range b.groups {
		n += g.records
	}
	return n
}

// History tells everything that was added. The Builder is done then.
func (b *Builder) History() *History {
	h := &History{Groups: []*Group{}}
	for _, g := range b.sorted() {
		g.deaths = append(g.deaths, b.deaths[g.key.cluster]...)
		h.Groups = append(h.Groups, g.tell())
	}
	h.Notes = notes(h.Groups)
	return h
}

func (b *Builder) sorted() []*group {
	return slices.SortedFunc(maps.Values(b.groups), func(x, y *group) int {
		return cmp.Or(cmp.Compare(x.key.cluster, y.key.cluster),
			cmp.Compare(x.key.algo, y.key.algo), cmp.Compare(x.key.run, y.key.run))
	})
}

// death is when a node died, as somebody else than the nodes knows.
type death struct {
	node uint64
	at   time.Time
}
