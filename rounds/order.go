package rounds

import (
	"cmp"
	"slices"
	"strings"
)

// inOrder sorts the entries of one term by cause.
//
//  1. The records of a process are in the order of their numbers. The records of an earlier
//     process of a node come before those of a later one.
//  2. A receipt comes after its send.
//  3. Otherwise the corrected time decides, if every send is in the records. If not, the
//     hybrid clock decides: a missing record may link a cause to its effect.
//
// Records that contradict each other, as only broken or hostile logs have them, are in the
// order of rule 3. A simulated run is in the order of its one clock.
func (t *log) inOrder(fix clockFix, simulated bool) {
	if simulated {
		slices.SortStableFunc(t.entries, byTime(fix))
		t.number()
		return
	}
	less := byTime(fix)
	if !t.pairsComplete() {
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

// pair notes for each receipt the entry that sent the message. Message ids begin anew with each
// process of a node, so several entries may have sent messages with the same id.
func (t *log) pair() {
	n := 0
	for _, e := range t.entries {
		n += len(e.sent)
	}
	sent := make(map[string]*entry, n)
	again := map[string][]*entry{} // all entries that sent an id, where there are several
	for _, e := range t.entries {
		for _, s := range e.sent {
			at := strings.IndexByte(s, '#')
			if at < 0 {
				continue
			}
			id := s[at+1:]
			if first := sent[id]; first == nil {
				sent[id] = e
			} else {
				if again[id] == nil {
					again[id] = []*entry{first}
				}
				again[id] = append(again[id], e)
			}
		}
	}
	for _, e := range t.entries {
		if e.msgID == "" {
			continue
		}
		if several := again[e.msgID]; several != nil {
			e.cause = matchSend(several, e)
		} else if first := sent[e.msgID]; first != nil {
			e.cause = matchSend([]*entry{first}, e)
		}
	}
}

// matchSend returns the entry that sent the message which e received. Of several possible entries
// it returns the latest by hybrid clock that is not after e. It returns nil if none fits.
func matchSend(candidates []*entry, e *entry) (best *entry) {
	for _, c := range candidates {
		tooLate := len(candidates) > 1 && !c.clock.IsZero() && c.clock.Compare(e.clock) > 0
		if c.Ref.Node != e.from || tooLate {
			continue
		}
		if best == nil || best.clock.Compare(c.clock) < 0 {
			best = c
		}
	}
	return best
}

// pairsComplete reports whether every receipt has its send.
func (t *log) pairsComplete() bool {
	return !slices.ContainsFunc(t.entries, func(e *entry) bool { return e.msgID != "" && e.cause == nil })
}

// respected reports whether the order of the entries keeps the rules 1 and 2 of inOrder.
func (t *log) respected() bool {
	last := map[uint64]*entry{}
	for i, e := range t.entries {
		if e.cause != nil && e.cause.place > i {
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
		if e.cause != nil {
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
