package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// greetings are the lines of one cluster by which processes said that they run. The Ref of a process has no number.
//
// A process that was killed before its first record is known by its greeting alone: it is a life without records. The
// process of its node before it had ended by then.
type greetings struct {
	at     map[Ref]time.Time // by the clock of the process
	last   map[uint64]Ref    // by node
	wrote  map[Ref]bool      // the processes that wrote a record
	silent map[Ref]trace.Greeting
	newest map[uint64]trace.Greeting // by node
	// changed are the settings of a process that the one before it of the node had otherwise.
	changed map[Ref][]string
}

func newGreetings() *greetings {
	return &greetings{
		at: map[Ref]time.Time{}, last: map[uint64]Ref{}, wrote: map[Ref]bool{}, silent: map[Ref]trace.Greeting{},
		newest: map[uint64]trace.Greeting{}, changed: map[Ref][]string{},
	}
}

func (u *greetings) add(first trace.Greeting) {
	of := Ref{Node: first.Node, Incarnation: first.Incarnation}
	if at, known := u.at[of]; known && at.Equal(first.Time) {
		return // a copy of the log
	}
	if u.at[of] = first.Time; !u.wrote[of] {
		u.silent[of] = first
	}
	if last := u.last[of.Node]; !first.Time.Before(u.at[last]) {
		u.last[of.Node] = of
	}
	switch before := u.newest[of.Node]; {
	case first.Time.Before(before.Time): // which was not the one before it then
		delete(u.changed, Ref{Node: of.Node, Incarnation: before.Incarnation})
		return
	case before.Incarnation != of.Incarnation:
		if changed := first.Changed(&before); changed != nil {
			u.changed[of] = changed
		}
	}
	u.newest[of.Node] = first
}

// other reports whether it is of another algorithm than the group.
func (g *group) other(first *trace.Greeting) bool {
	return first.Algorithm != "" && first.Algorithm != g.key.algo
}

// elsewhere reports whether the last process of the node is of another algorithm: what its log has after its records is
// not of this group.
func (g *group) elsewhere(node uint64, m *member) bool {
	of, greeted := g.ups.last[node]
	if first, silent := g.ups.silent[of]; silent {
		return g.other(&first)
	}
	return greeted && m.byIncarnation[of.Incarnation] == nil
}

// wroteRecord notes that a process wrote a record.
func (u *greetings) wroteRecord(l *life) {
	u.wrote[l.ref(0)] = true
	delete(u.silent, l.ref(0))
}

// greeted returns the processes of the group, by their nodes, that said that they run and wrote no record.
func (g *group) greeted() map[uint64][]*life {
	all := map[uint64][]*life{}
	for of, first := range g.ups.silent {
		if !g.other(&first) && g.eras.at(g.key, first.Time) == g.key.era {
			all[of.Node] = append(all[of.Node], &life{
				node: of.Node, incarnation: of.Incarnation, started: true, from: first.Time, until: first.Time,
			})
		}
	}
	return all
}

// setSilent keeps those of a node's processes without records that were the node. While records still come, the last
// one may yet write some.
func (g *group) setSilent(m *member, silent []*life) {
	slices.SortFunc(silent, byBeginning)
	m.silent = nil
	for i, l := range silent {
		began := func(other *life) bool { return other.from.After(l.from) }
		last := i+1 == len(silent) && !slices.ContainsFunc(m.lives, began)
		if !g.displaced(m, l) && (g.ending || g.past == nil || !last) {
			m.silent = append(m.silent, l)
		}
	}
}

// displaced reports whether another process went on as the node while the one without records ran.
func (g *group) displaced(m *member, l *life) bool {
	wentOn := func(other *life) bool { return other.from.Before(l.from) && other.until.After(l.from) }
	if slices.ContainsFunc(m.lives, wentOn) || slices.ContainsFunc(m.apart, wentOn) {
		return true
	}
	byes := g.byes(l.node)
	i := slices.IndexFunc(byes, func(bye trace.Farewell) bool { return !bye.Time.Before(l.from) })
	return i >= 0 && byes[i].IsTaken()
}

// all returns the processes of the node, those without records too, by their beginnings.
func (m *member) all() []*life {
	if len(m.silent) == 0 { // nearly always
		return m.lives
	}
	return slices.SortedFunc(slices.Values(slices.Concat(m.lives, m.silent)), byBeginning)
}
