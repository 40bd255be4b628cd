package rounds

import (
	"cmp"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// voting is a record by which a voter does not vote, since nothing is saved of what it voted, or votes again.
type voting struct {
	mark
	voteless bool
}

// noteVoting keeps the record with these reasons, if it tells that the voter votes no more, or again.
func (l *life) noteVoting(reasons []reason, m mark) {
	for i := range reasons {
		if v, ok := decided[algorithms.Voteless](&reasons[i]); ok {
			l.voting = append(l.voting, voting{m, !v.Over})
		} else if n := len(l.voting); n > 0 && l.voting[n-1].voteless && votesAgain(&reasons[i]) {
			l.voting = append(l.voting, voting{m, false})
		}
	}
}

// votesAgain reports whether only a voter that votes would give the reason.
func votesAgain(why *reason) bool {
	_, readmits := decided[algorithms.Readmits](why)
	_, votes := decided[algorithms.Votes](why)
	_, stands := decided[algorithms.Stands](why)
	return readmits || votes || stands
}

// noteFree notes that no promise binds the voter, if it tells another node than the one that it followed last that it
// would vote for it.
func (l *life) noteFree(rec *trace.Record, reasons []reason, m mark) {
	if rec.Leader != 0 {
		if m.seq > l.free.seq {
			l.free = mark{}
		}
		return
	}
	for i := range reasons {
		yes, ok := decided[algorithms.Answers](&reasons[i])
		ok = ok && yes.Yes && yes.Voter == algorithms.Self
		n := len(l.beliefs)
		if ok && (n < 2 || l.beliefs[n-2].leader != reasons[i].number(yes.Candidate)) && l.free.seq == 0 {
			l.free = m
		}
	}
}

// allVoting returns the records of voting in the order of their numbers.
func (l *life) allVoting() []voting {
	byRecord := func(a, b voting) int { return cmp.Compare(a.seq, b.seq) }
	if !slices.IsSortedFunc(l.voting, byRecord) {
		slices.SortFunc(l.voting, byRecord)
	}
	return l.voting
}

// voteless returns the record by which the process votes for nobody, as far as its last records tell.
func (l *life) voteless() Ref {
	all := l.allVoting()
	if len(all) == 0 || !all[len(all)-1].voteless || l.wholeFrom(all[len(all)-1].seq) < l.last() {
		return Ref{}
	}
	return l.ref(all[len(all)-1].seq)
}

// wholeFrom returns the last record such that none is missing between the record with the given number and that.
func (l *life) wholeFrom(seq uint64) uint64 {
	i, _ := slices.BinarySearchFunc(l.seen, seq, compareSpan)
	return l.seen[i].last
}

// votelessOf returns when the process did not vote: up to the record by which it votes again, or up to its last record.
func (g *group) votelessOf(l *life) (all []absence) {
	list := l.allVoting()
	for i, v := range list {
		if !v.voteless {
			continue
		}
		until := v.wall
		last := l.wholeFrom(v.seq)
		if i+1 < len(list) {
			last = min(last, list[i+1].seq)
		}
		for _, m := range l.sorted() {
			if m.seq > v.seq && m.seq <= last {
				until = m.wall
			}
		}
		all = append(all, absence{
			id: l.node, from: g.fix.at(l.node, v.wall), until: g.fix.at(l.node, until), how: voteless,
			ref: l.ref(v.seq),
		})
	}
	return all
}
