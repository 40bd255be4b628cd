package rounds

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// inOrder sorts the entries of one term by cause.
//
//  1. The records of a process are in the order of its count, those of a node's
//     lives in the order of the lives.
//  2. A receipt is after its send.
//  3. Otherwise the hybrid clock decides where a send is missing, because cause
//     and effect may be linked by a record that is not there; where all are
//     there, the corrected time does.
//
// Records that contradict each other, as only broken or hostile logs do, are
// put where 3 puts them. A simulated run is in the order of its one clock already.
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
	sortTopologically(t.entries, t.constraints())
	t.number()
}

// number notes each entry's place.
func (t *log) number() {
	for i, e := range t.entries {
		e.place = i
	}
}

// byTime compares corrected times. Equal ones, as simulated runs have them, stay
// in the order in which they came.
func byTime(fix clockFix) func(a, b *entry) int {
	return func(a, b *entry) int {
		return fix.at(a.node(), a.wall).Compare(fix.at(b.node(), b.wall))
	}
}

// byClock compares hybrid clocks, and times where there is none.
func byClock(fix clockFix) func(a, b *entry) int {
	times := byTime(fix)
	return func(a, b *entry) int {
		if a.clock.IsZero() || b.clock.IsZero() {
			return times(a, b)
		}
		return cmp.Or(a.clock.Compare(b.clock), times(a, b))
	}
}

// pair notes which entries sent each message, by its id, and for each receipt
// its send. Ids begin anew with each life of a node, so one id may have been
// sent twice.
func (t *log) pair() {
	n := 0
	for _, e := range t.entries {
		n += len(e.sent)
	}
	sent := make(map[string]*entry, n)
	again := map[string][]*entry{} // all with that id, where there are several
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

// matchSend is the send of what e received: the last one, by hybrid clock, that
// can have caused it. Nil for none.
func matchSend(candidates []*entry, e *entry) (best *entry) {
	for _, c := range candidates {
		tooLate := len(candidates) > 1 && !c.clock.IsZero() && c.clock.Compare(e.clock) > 0
		if c.node() != e.from || tooLate {
			continue
		}
		if best == nil || best.clock.Compare(c.clock) < 0 {
			best = c
		}
	}
	return best
}

// pairsComplete reports whether the send of every receipt is there.
func (t *log) pairsComplete() bool {
	return !slices.ContainsFunc(t.entries, func(e *entry) bool { return e.msgID != "" && e.cause == nil })
}

// respected reports whether the present order keeps 1 and 2.
func (t *log) respected() bool {
	last := map[uint64]*entry{}
	for i, e := range t.entries {
		if e.cause != nil && e.cause.place > i {
			return false
		}
		before := last[e.node()]
		if before != nil && inOneNode(before, e) > 0 {
			return false
		}
		last[e.node()] = e
	}
	return true
}

// inOneNode orders the records of one node.
func inOneNode(x, y *entry) int {
	if x.life == y.life {
		return cmp.Compare(x.seq, y.seq)
	}
	return byBeginning(x.life, y.life)
}

// constraints are, for each entry, the places of those that must come before.
func (t *log) constraints() [][]int {
	after := make([][]int, len(t.entries))
	byNode := map[uint64][]*entry{}
	for i, e := range t.entries {
		byNode[e.node()] = append(byNode[e.node()], e)
		if e.cause != nil {
			after[i] = append(after[i], e.cause.place)
		}
	}
	for _, own := range byNode {
		slices.SortStableFunc(own, inOneNode)
		for i := 1; i < len(own); i++ {
			at := own[i].place
			after[at] = append(after[at], own[i-1].place)
		}
	}
	return after
}

// sortTopologically puts the entries in an order that keeps the constraints,
// and otherwise the present one. Of a cycle, the earliest goes first.
func sortTopologically(entries []*entry, after [][]int) {
	waits := make([]int, len(entries))
	next := make([][]int, len(entries))
	ready := &intHeap{}
	for i, before := range after {
		waits[i] = len(before)
		for _, j := range before {
			next[j] = append(next[j], i)
		}
		if waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	sorted := make([]*entry, 0, len(entries))
	done := make([]bool, len(entries))
	for earliest := 0; len(sorted) < len(entries); {
		if ready.Len() == 0 { // a cycle
			for done[earliest] {
				earliest++
			}
			heap.Push(ready, earliest)
		}
		i := heap.Pop(ready).(int)
		if done[i] {
			continue
		}
		done[i] = true
		sorted = append(sorted, entries[i])
		for _, j := range next[i] {
			if waits[j]--; waits[j] == 0 && !done[j] {
				heap.Push(ready, j)
			}
		}
	}
	copy(entries, sorted)
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
