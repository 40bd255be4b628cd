package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Builder makes a History out of records. One goroutine may use it at a time.
type Builder struct {
	groups     map[groupKey]*group
	last       *group
	runs       map[string]int // of simulated runs, by algorithm
	deaths     map[string][]death
	left       map[string]farewells            // by cluster
	lines      map[string]map[uint64]time.Time // by cluster and node: see Line
	ups        map[string]*greetings           // by cluster
	mismatches map[string][]trace.Mismatch     // by cluster
	brief      bool
	bounds     *Bounds // nil if all rounds are kept until History is called
	eras       *Eras   // nil if each cluster has only one
	names      *Names  // of the records so far
	patience   int     // see Patient
}

// groupKey is the same for all records of one group.
type groupKey struct {
	cluster, algo string
	run           int // 0 for real clusters
	era           int // 0 if the cluster has only one
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		groups: map[groupKey]*group{}, runs: map[string]int{}, deaths: map[string][]death{},
		left: map[string]farewells{}, lines: map[string]map[uint64]time.Time{},
		ups: map[string]*greetings{}, mismatches: map[string][]trace.Mismatch{},
		names: &Names{shared: map[uint64]uint64{}},
	}
}

// NewBriefBuilder returns an empty Builder whose Rounds have no Steps, Messages,
// Verdicts, Unknown and Theory, but all other fields. A list with one line for
// each round needs no more, and is built faster and in less memory.
func NewBriefBuilder() *Builder {
	b := NewBuilder()
	b.brief = true
	return b
}

// Add takes one record. Records may come in any order, and twice. The Builder does not
// keep rec itself, but it keeps what the fields of rec refer to.
func (b *Builder) Add(rec *trace.Record) {
	g := b.group(rec)
	g.add(rec)
	if b.bounds != nil && g.held > max(b.bounds.Records, g.tried) {
		g.retire()
	}
}

// Death takes the true time at which a node of the cluster died, since no record can tell it. Call
// Death before the Round that follows the death is built. If the label cluster is empty, the death
// belongs to the simulated run whose records came last.
func (b *Builder) Death(cluster string, node uint64, at time.Time) {
	d := death{node, at}
	if cluster == "" && b.last != nil {
		b.last.deaths = append(b.last.deaths, d)
		return
	}
	b.deaths[cluster] = append(b.deaths[cluster], d)
}

// farewells are the last lines of the processes of each node, by the clocks of their nodes, in order.
type farewells map[uint64][]trace.Farewell

// Left takes the last line of a process, in which it says that it ends. It may be called before the records of the
// process are added, or after.
func (b *Builder) Left(last trace.Farewell) {
	last = b.unsetFarewell(last)
	of := b.farewellsOf(cmp.Or(last.Keeper(), last.Cluster))
	byTime := func(a, b trace.Farewell) int { return a.Time.Compare(b.Time) }
	i, told := slices.BinarySearchFunc(of[last.Node], last, byTime)
	if !told {
		of[last.Node] = slices.Insert(of[last.Node], i, last)
	}
	b.line(last.Cluster, last.Node, last.Time)
}

// Up takes the line by which a process says that it runs. It may be called before the records of the process are added,
// or after.
func (b *Builder) Up(first trace.Greeting) {
	by, _ := b.clockSet(first.Cluster, first.Node)
	first.Time = first.Time.Add(-by)
	b.upsOf(first.Cluster).add(first)
	b.line(first.Cluster, first.Node, first.Time)
}

func (b *Builder) upsOf(cluster string) *greetings {
	if b.ups[cluster] == nil {
		b.ups[cluster] = newGreetings()
	}
	return b.ups[cluster]
}

// Line takes the time of a line of a node that is no record, as if nobody had set its clock since its process began:
// its log goes on until then at least. It is for the time in which nobody leads when the logs end.
func (b *Builder) Line(cluster string, node uint64, at time.Time) {
	_, before := b.clockSet(cluster, node)
	b.line(cluster, node, at.Add(-before))
}

// line does what Line does, with the time as if nobody had ever set the clock.
func (b *Builder) line(cluster string, node uint64, at time.Time) {
	of := b.linesOf(cluster)
	of[node] = latest(of[node], at)
}

func (b *Builder) linesOf(cluster string) map[uint64]time.Time {
	if b.lines[cluster] == nil {
		b.lines[cluster] = map[uint64]time.Time{}
	}
	return b.lines[cluster]
}

func (b *Builder) farewellsOf(cluster string) farewells {
	if b.left[cluster] == nil {
		b.left[cluster] = farewells{}
	}
	return b.left[cluster]
}

// group returns the group of rec. If there is none, it makes a new one.
func (b *Builder) group(rec *trace.Record) *group {
	key := groupKey{cluster: rec.Cluster, algo: rec.Algo}
	simulated := isSimulated(rec)
	if simulated {
		key.run = max(1, b.runs[key.algo])
	}
	key.era = b.eras.number(key, rec)
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
		g.bounds, g.left, g.ups, g.eras = b.bounds, b.farewellsOf(key.cluster), b.upsOf(key.cluster), b.eras
		if b.eras.replaced(key).IsZero() { // only the last line of each node is kept
			g.lines = b.linesOf(key.cluster)
		}
		b.groups[key], b.runs[key.algo] = g, key.run
	}
	b.last = g
	return g
}

// isSimulated reports whether rec is of a simulated run: such a record has no label,
// and its time is in the year 2000.
func isSimulated(rec *trace.Record) bool { return rec.Cluster == "" && rec.Time.Year() == 2000 }

// Records counts the records that the Builder has taken. A repeated record counts once.
func (b *Builder) Records() int {
	n := 0
	for _, g := range b.groups {
		n += g.records
	}
	return n
}

// History builds everything that was added. The Builder must not be used after that.
func (b *Builder) History() *History {
	h := &History{Groups: []*Group{}}
	for _, g := range b.sorted() {
		g.deaths = append(g.deaths, b.deaths[g.key.cluster]...)
		told := g.build()
		told.Mismatches = g.findMismatches(b.mismatches[g.key.cluster])
		told.Replaced, told.Names = b.eras.replaced(g.key), b.Names()
		h.Groups = append(h.Groups, told)
	}
	h.Notes = notes(h.Groups)
	return h
}

// Names returns the names of the records that were added.
func (b *Builder) Names() *Names {
	top := map[uint64]uint64{} // the highest number of each node
	for _, g := range b.groups {
		for id, m := range g.nodes {
			for _, last := range m.lastNumbers() {
				if last > top[id] {
					last, top[id] = top[id], last
				}
				b.names.shared[id] = max(b.names.shared[id], last)
			}
		}
	}
	return b.names
}

// lastNumbers returns the numbers of the last records of the node's processes. One number stands for all those that
// were forgotten; it is there twice if they were several.
func (m *member) lastNumbers() (list []uint64) {
	for range min(m.forgotten.lives, 2) {
		list = append(list, m.forgotten.last)
	}
	for _, l := range slices.Concat(m.lives, m.apart) {
		list = append(list, l.last())
	}
	return list
}

func (b *Builder) sorted() []*group {
	return slices.SortedFunc(maps.Values(b.groups), func(x, y *group) int {
		return cmp.Or(cmp.Compare(x.key.cluster, y.key.cluster),
			cmp.Compare(x.key.algo, y.key.algo), cmp.Compare(x.key.run, y.key.run), cmp.Compare(x.key.era, y.key.era))
	})
}

// death is the true time at which a node died, from Builder.Death.
type death struct {
	node uint64
	at   time.Time
}
