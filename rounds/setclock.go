package rounds

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// A node tells by how much somebody set the wall clock of its machine. Its times since, also those of its next
// processes, are read as the clock would have shown them if nobody had set it.

// ClockSet says that somebody set the wall clock of a process's machine, by its own word.
type ClockSet struct {
	At  time.Time     `json:"at"` // of Ref, corrected: the clock was set by then
	By  time.Duration `json:"by"` // positive where it was set forward
	Ref Ref           `json:"ref"`
}

// unset returns the record with the times that the clock would have shown, had nobody set it.
func (m *member) unset(l *life, rec *trace.Record) *trace.Record {
	m.clockSet = l.setBefore + rec.ClockSet
	if m.clockSet == 0 { // nearly always
		return rec
	}
	m.setForward = max(m.setForward, m.clockSet)
	right := *rec
	right.Time = rec.Time.Add(-m.clockSet)
	if !rec.ValidUntil.IsZero() {
		right.ValidUntil = rec.ValidUntil.Add(-m.clockSet)
	}
	return &right
}

// clockSet returns by how much the clock of a node was set, and by how much before its present process began, by the
// records that came in.
func (b *Builder) clockSet(cluster string, node uint64) (by, before time.Duration) {
	newest := time.Time{}
	for _, g := range b.groups {
		if m := g.nodes[node]; m != nil && g.key.cluster == cluster && g.newest.After(newest) {
			by, before, newest = m.clockSet, m.current.setBefore, g.newest
		}
	}
	return by, before
}

// unsetFarewell returns the last line of a process with the time that the clock would have shown, had nobody set it.
func (b *Builder) unsetFarewell(last trace.Farewell) trace.Farewell {
	by, before := b.clockSet(last.Cluster, last.Node)
	if last.ClockSet != 0 { // else it may be of a process that began since
		by = before + last.ClockSet
	}
	last.Time = last.Time.Add(-by)
	return last
}

// setting is a record, and by how much the clock was set since its process began.
type setting struct {
	seq  uint64
	wall time.Time
	set  time.Duration
}

// noteSetting notes that somebody set the clock since the record that came before.
func (l *life) noteSetting(rec *trace.Record) {
	if n := len(l.settings); n == 0 && rec.ClockSet != 0 || n > 0 && l.settings[n-1].set != rec.ClockSet {
		l.settings = append(l.settings, setting{rec.Seq, rec.Time, rec.ClockSet})
	}
}

// clockSets returns when somebody set the clock of the process.
func (l *life) clockSets(fix clockFix) (sets []ClockSet) {
	slices.SortFunc(l.settings, func(a, b setting) int { return cmp.Compare(a.seq, b.seq) })
	was := time.Duration(0)
	for _, now := range l.settings {
		if now.set != was {
			sets = append(sets, ClockSet{fix.at(l.node, now.wall), now.set - was, l.ref(now.seq)})
		}
		was = now.set
	}
	return sets
}
