package rounds

import (
	"cmp"
	"slices"
)

// inOrder sorts the entries of one term by cause.
//
//  1. The records of a process are in the order of their numbers. The records of an earlier
//     process of a node come before those of a later one.
//  2. A receipt comes after its send.
//  3. Otherwise the corrected time decides. Where no messages compare two of the clocks, so that nothing
//     corrects them, the hybrid clock decides.
//
// Records that contradict each other, as only broken or hostile logs have them, are in the
// order of rule 3. A simulated run is in the order of its one clock.
func (t *log) inOrder(fix clockFix, comparable, simulated bool) {
	if simulated {
		slices.SortStableFunc(t.entries, byTime(fix))
		t.number()
		return
	}
	less := byTime(fix)
	if !comparable {
		less = byClock(fix)
	}
	slices.SortStableFunc(t.entries, less)
	t.number()
	if t.respected() {
		return
	}
	t.sortTopologically()
	t.number()
}

// number notes each entry's place.
func (t *log) number() {
	for i, e := range t.entries {
		e.place = i
	}
}

// byTime compares corrected times. Records with equal times stay in the order in which they
// came.
func byTime(fix clockFix) func(a, b *entry) int {
	return func(a, b *entry) int {
		return fix.at(a.Ref.Node, a.Wall).Compare(fix.at(b.Ref.Node, b.Wall))
	}
}

// byClock compares hybrid clocks, or corrected times where a record has no hybrid clock.
func byClock(fix clockFix) func(a, b *entry) int {
	times := byTime(fix)
	return func(a, b *entry) int {
		if a.clock.IsZero() || b.clock.IsZero() {
			return times(a, b)
		}
		return cmp.Or(a.clock.Compare(b.clock), times(a, b))
	}
}

// comparable reports whether messages compare the clocks of all nodes of the entries.
func (t *log) comparable(paths *paths) bool {
	for _, e := range t.entries {
		if !paths.linked(t.entries[0].Ref.Node, e.Ref.Node) {
			return false
		}
	}
	return true
}

// respected reports whether the order of the entries keeps the rules 1 and 2 of inOrder.
func (t *log) respected() bool {
	last := map[uint64]*entry{}
	for i, e := range t.entries {
		if e.cause != nil && e.cause.log == e.log && e.cause.place > i {
			return false
		}
		before := last[e.Ref.Node]
		if before != nil && inOneNode(before, e) > 0 {
			return false
		}
		last[e.Ref.Node] = e
	}
	return true
}

// inOneNode compares records of one node.
func inOneNode(x, y *entry) int {
	if x.life == y.life {
		return cmp.Compare(x.Ref.Seq, y.Ref.Seq)
	}
	return byBeginning(x.life, y.life)
}

// constrain returns, for each entry, which entries must come after it, and how many must come
// before it.
func (t *log) constrain() (next [][]int, waits []int) {
	next, waits = make([][]int, len(t.entries)), make([]int, len(t.entries))
	before := func(first, then *entry) {
		next[first.place] = append(next[first.place], then.place)
		waits[then.place]++
	}
	byNode := map[uint64][]*entry{}
	for _, e := range t.entries {
		byNode[e.Ref.Node] = append(byNode[e.Ref.Node], e)
		if e.cause != nil && e.cause.log == e.log {
			before(e.cause, e)
		}
	}
	for _, own := range byNode {
		slices.SortStableFunc(own, inOneNode)
		for i := 1; i < len(own); i++ {
			before(own[i-1], own[i])
		}
	}
	return next, waits
}

// sortTopologically puts the entries in an order that keeps the rules 1 and 2 of inOrder, and
// otherwise the present order: an entry that must wait for others follows as soon as the last of
// these others is placed. If entries wait for each other in a cycle, the earliest goes first.
func (t *log) sortTopologically() {
	next, waits := t.constrain()
	sorted := make([]*entry, 0, len(t.entries))
	placed := make([]bool, len(t.entries))
	place := func(first, passed int) { // passed: entries below this index waited when it was their turn
		for ready := []int{first}; len(ready) > 0; {
			var released []int
			for _, i := range ready {
				placed[i] = true
				sorted = append(sorted, t.entries[i])
				for _, j := range next[i] {
					waits[j]--
					if waits[j] == 0 && j < passed && !placed[j] {
						released = append(released, j)
					}
				}
			}
			slices.Sort(released)
			ready = released
		}
	}
	for i := range t.entries {
		if waits[i] == 0 {
			place(i, i)
		}
	}
	for i := range t.entries { // what is left waits for itself
		if !placed[i] {
			place(i, len(t.entries))
		}
	}
	t.entries = sorted
}
