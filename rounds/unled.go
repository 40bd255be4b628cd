package rounds

import (
	"cmp"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// perhapsLed returns the nodes that may have led the term of the round in records that are missing: the log of a node,
// or those of a process that may have been in the term when it wrote them. Under a lease, a majority of the voters may
// have voted for such a node.
func (g *group) perhapsLed(r *Round) []uint64 {
	all := append(slices.Clone(g.everyNode()), g.everyVoter()...) // of whom no other record may tell
	slices.Sort(all)
	lacking := slices.DeleteFunc(slices.Compact(all), func(id uint64) bool {
		m := g.nodes[id]
		return m != nil && !g.mayLackTerm(m, r) && !g.beganLate(m, r)
	})
	if !leased(g.guarantee) || len(g.voters) == 0 {
		return lacking
	}
	return slices.DeleteFunc(slices.Clone(lacking), func(id uint64) bool { return !g.mayHaveWon(r, id, lacking) })
}

// mayHaveWon reports whether a majority of the voters may have voted for the node in the round: those whose records are
// missing, and those which sent it anything but a question or a no.
func (g *group) mayHaveWon(r *Round, candidate uint64, lacking []uint64) bool {
	with := map[uint64]bool{candidate: true}
	for _, id := range lacking {
		with[id] = true
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		asks := slices.Contains(askKinds, m.Kind) || m.Kind == proto.KindPreVoteReply.String()
		if m.To == candidate && !asks && !r.refuses(m) {
			with[m.From] = true
		}
	}
	votes := 0
	for id := range g.voters {
		if with[id] {
			votes++
		}
	}
	return 2*votes > len(g.voters)
}

// beganLate reports whether the log of the node may begin after the round, with a process that was not the first one:
// where terms are not saved, it may have led a higher one than that begins in.
func (g *group) beganLate(m *member, r *Round) bool {
	l := m.lives[0]
	if l.surelyFirst() && !g.pairing.cut || len(r.Steps) == 0 { // where logs are cut, it may have lost its disk
		return false
	}
	began := g.fix.at(l.node, l.from)
	return g.untimed(l.node, r) || began.Add(g.apart(l.node, r.Steps[0].Ref.Node)).After(r.From) || g.begunBefore(r)
}

// begunBefore reports whether the log of a node begins within the term of the round: it may have been led long before.
func (g *group) begunBefore(r *Round) bool {
	for _, m := range g.nodes {
		if len(m.lives) > 0 && m.lives[0].first() > 1 && m.lives[0].began() == r.Term {
			return true
		}
	}
	return false
}

// untimed reports whether nothing tells when the round was by the clock of the node.
func (g *group) untimed(node uint64, r *Round) bool {
	return len(r.Steps) > 0 && g.apart(node, r.Steps[0].Ref.Node) == unbounded
}

// reservedBefore reports whether a process of which no log tells may have led the term of the round long before that
// was called. Without a lease, a node reserves the term above the one that it saves, and may lead it unsaved.
func (g *group) reservedBefore(r *Round) bool {
	return !leased(g.guarantee) && slices.ContainsFunc(g.everyNode(), func(id uint64) bool {
		m := g.nodes[id]
		return m != nil && len(m.lives) > 0 && !m.lives[0].surelyFirst() && m.lives[0].began()+1 == r.Term
	})
}

// mayLackTerm reports whether the node may have led the term in records that are missing: before its log begins,
// between two processes, within one, or after its log ends, where others go on, or got what it sent since, or where
// records are missing between others.
func (g *group) mayLackTerm(m *member, r *Round) bool {
	if m.hidden || len(m.lives) == 0 {
		return true
	}
	term, reached, known := r.Term, uint64(0), uint64(0) // the highest of the processes before, and that they knew
	for i, l := range m.lives {
		unknown := i == 0 && !l.surelyFirst() || i > 0 && l.began() > g.inRound(known) && !g.toldTerm(l)
		if unknown && l.began() >= term && reached < term || l.mayLackTerm(term) {
			return true
		}
		known = max(known, g.knew(l))
		if reached = max(reached, l.top.term); reached <= term && l.next != nil && g.mayLackEnd(l, r) {
			return true
		}
	}
	last := m.lives[len(m.lives)-1]
	over := g.goodbye(last) != nil || g.endedBeforeRound(last, r)
	if reached > term || over && !g.ranAgain(last) {
		return false
	}
	node := last.node
	return g.untimed(node, r) || g.holed() || g.sentUnseen(last) ||
		g.logEnd(node).Add(maxTransit).Before(g.logsEndBy(node))
}

// toldTerm reports whether others may have told the process the term of its first record, which is not that of its
// start, as at level info. Without a lease, one record that is missing may be of a leader.
func (g *group) toldTerm(l *life) bool {
	return leased(g.guarantee) && len(g.voters) > 1 && !l.started && l.first() == 1
}

// knew returns the highest term that the process had saved by its records: it nominates in a term that it has saved,
// but may ask for votes in one that it has not.
func (g *group) knew(l *life) uint64 {
	if entry, err := catalog.Lookup(g.key.algo); err == nil && entry.Leased {
		return l.voted
	}
	return l.highest
}

// mayLackEnd reports whether the last record of a process that ended may be missing, and of the round, by when that
// began.
func (g *group) mayLackEnd(l *life, r *Round) bool {
	return g.goodbye(l) == nil && !g.endedBeforeRound(l, r) && g.lacksEnd(l)
}

// lacksEnd reports whether the last record of a process may be missing that another one of its node came after: so are
// the first ones of that, or others received what it sent later, or records are missing in any log, and nothing tells
// how many.
func (g *group) lacksEnd(l *life) bool { return l.next.first() > 1 || g.holed() || g.sentUnseen(l) }

// endedBeforeRound reports whether the process had certainly ended when the round began, or others saw that then.
func (g *group) endedBeforeRound(l *life, r *Round) bool {
	return len(r.Steps) > 0 && g.endedSince(l, r.Steps[0].Ref.Node, r.From.Add(1))
}

// ranAgain reports whether another process of the node ran after the end of the last one with records, since others saw
// or heard it, and is in no log. One that only said that it runs led nobody.
func (g *group) ranAgain(l *life) bool {
	return slices.ContainsFunc(g.events(l), func(e LifeEvent) bool {
		began := func(silent *life) bool { return g.fix.at(l.node, silent.from).After(e.At) }
		return e.Kind == Ended && !g.seenByOthers(l.node, e.At).IsZero() &&
			!slices.ContainsFunc(g.nodes[l.node].silent, began)
	})
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
