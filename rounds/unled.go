package rounds

import (
	"cmp"
	"slices"
)

// perhapsLed reports whether records are missing that would tell whether somebody led the term of the round: the log of
// a node, or those of a process that may have been in the term when it wrote them.
func (g *group) perhapsLed(r *Round) bool {
	if g.all == nil {
		g.all = g.everybody()
	}
	return slices.ContainsFunc(g.all, func(id uint64) bool {
		m := g.nodes[id]
		return m == nil || g.mayLackTerm(m, r) || g.beganLate(m, r)
	})
}

// beganLate reports whether the log of the node may begin after the round, with a process that was not the first one:
// where terms are not saved, it may have led a higher one than that begins in.
func (g *group) beganLate(m *member, r *Round) bool {
	l := m.lives[0]
	if l.surelyFirst() || len(r.Steps) == 0 {
		return false
	}
	off := g.apart(l.node, r.Steps[0].Ref.Node)
	return off == unbounded || g.fix.at(l.node, l.from).Add(off).After(r.From)
}

// mayLackTerm reports whether the node may have led the term in records that are missing: before its log begins,
// between two processes, within one, or after its log ends, where others go on.
func (g *group) mayLackTerm(m *member, r *Round) bool {
	if m.hidden || len(m.lives) == 0 {
		return true
	}
	term, reached := r.Term, uint64(0) // the highest term of the processes before
	for i, l := range m.lives {
		first := i == 0 && l.surelyFirst()
		if !first && l.began() >= term && reached < term || l.mayLackTerm(term) {
			return true
		}
		if reached = max(reached, l.top.term); reached <= term && l.next != nil && g.mayLackEnd(l, r) {
			return true
		}
	}
	last := m.lives[len(m.lives)-1]
	if reached > term || g.goodbye(last) != nil {
		return false
	}
	node := last.node
	return g.logEnd(node).Add(maxTransit).Before(g.logsEndBy(node))
}

// mayLackEnd reports whether the last record of a process that ended may be missing, and of the round, by when that
// began: others received what it sent later, or records are missing in any log, and nothing tells how many.
func (g *group) mayLackEnd(l *life, r *Round) bool {
	if g.goodbye(l) != nil || len(r.Steps) > 0 && g.endedSince(l, r.Steps[0].Ref.Node, r.From) {
		return false
	}
	return g.holed() || g.sentUnseen(l)
}

// holed reports whether records are missing between others of any process: so may be the last ones of each.
func (g *group) holed() bool {
	for _, m := range g.nodes {
		if slices.ContainsFunc(m.lives, func(l *life) bool { return l.missing() > 0 }) {
			return true
		}
	}
	return false
}

// mayLackTerm reports whether a record of the process is missing that may be of the term: from the last one before
// the term on, or from its first one, until one of a later term, or its last one.
func (l *life) mayLackTerm(term uint64) bool {
	marks := l.sorted()
	if len(marks) == 0 || l.text {
		return true
	}
	reached, _ := slices.BinarySearchFunc(marks, term, markOf)
	passed, _ := slices.BinarySearchFunc(marks, term+1, markOf)
	if reached == 0 && l.first() > 1 {
		return true
	}
	from, until := marks[max(reached-1, 0)], marks[min(passed, len(marks)-1)]
	return l.rangeOf(until.seq) > from.seq
}

// markOf compares the term of a mark with another one. The term of a process never falls.
func markOf(m mark, term uint64) int { return cmp.Compare(m.term, term) }
