package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// skipped is a node for which another one waited, until it found it silent and went on without it.
type skipped struct {
	node uint64
	at   time.Time
	ref  Ref
}

// noteSkipped keeps for whom a step no longer waits, since they are silent.
func (r *Round) noteSkipped(s *Step) {
	if s.Event != "peers" || len(s.reasons) == 0 || !slices.ContainsFunc(s.reasons, skips) {
		return
	}
	for _, id := range accused(s.Evidence) {
		if !EndedProcess(s.Evidence, id) {
			r.skipped = append(r.skipped, skipped{id, s.At, s.Ref})
		}
	}
}

// skips reports whether the reason, or its cause, decides that a node goes on without those for which it waited.
func skips(why reason) bool {
	for n := 0; n < 2; n++ {
		if _, ok := decided[algorithms.Skips](&why); ok {
			return true
		}
		why = why.from(0)
	}
	return false
}

// delayed says what took more than half of the time in which nobody led: another node was silent, and those that
// elected waited for it until they found that, or the leader before had lent its lease, or voters whose votes the winner
// needed had promised another node to elect nobody else for a while. It returns "" if the records tell neither.
func (in *Incident) delayed(g *group) string {
	took := in.Until.Sub(in.From)
	if in.Leader == 0 || in.Bounded() || took < together {
		return ""
	}
	late := func(at time.Time) bool { return at.Sub(in.From) > took/2 && !at.After(in.Until) }
	last := skipped{}
	for _, r := range in.rounds {
		for _, s := range r.skipped {
			if s.node != in.Former && s.node != in.Leader && late(s.at) && s.at.After(last.at) {
				last = s
			}
		}
	}
	if last.node != 0 {
		in.prove(last.ref)
		return fmt.Sprintf("finding node %d silent took %s of the %s", last.node,
			Span(last.at.Sub(in.From)), Span(took))
	}
	if i := slices.IndexFunc(in.rounds, func(r *Round) bool { return r.Term == in.Term }); i >= 0 {
		b := in.rounds[i].Ballot
		return cmp.Or(in.lent(g, b, late), in.promised(b, late))
	}
	return ""
}

// promised says which voters refused the winner late, by a promise to another node, and voted for it then, if it had no
// majority without them. It returns "" if there are none.
func (in *Incident) promised(b *Ballot, late func(time.Time) bool) string {
	if b == nil || b.Candidate != in.Leader {
		return ""
	}
	var bound []uint64
	var refs []Ref
	to, votes := uint64(0), 0
	for _, v := range b.Voices {
		if !v.Counted {
			continue
		}
		if votes++; v.Denial == algorithms.DeniedPromised && v.To != 0 && (to == 0 || v.To == to) && late(v.refused) {
			bound, refs, to = append(bound, v.Voter), append(refs, v.Ref), v.To
		}
	}
	if len(bound) == 0 || votes-len(bound) >= b.Majority() {
		return ""
	}
	for _, ref := range refs {
		in.prove(ref)
	}
	return fmt.Sprintf("%s %s had promised node %d to elect nobody else for a while",
		words.Either(len(bound), "voter", "voters"), words.List(bound), to)
}
