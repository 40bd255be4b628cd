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

// answer is what a voter answered to who asked for its vote, by its own record or that of who asked it.
type answer struct {
	voter   uint64
	started bool // it voted for nobody, since it had just started
	late    bool // it would vote for who had asked it before: what bound it is over
	at      time.Time
	ref     Ref
}

// own reports whether the voter itself wrote it.
func (a *answer) own() bool { return a.ref.Node == a.voter }

// noteAnswers keeps which voters refuse in a step, since they have just started, and what else its node answers itself.
func (r *Round) noteAnswers(s *Step) {
	for i := range s.reasons {
		says, ok := decided[algorithms.Answers](&s.reasons[i])
		if !ok {
			continue
		}
		a := answer{voter: s.reasons[i].node(says.Voter, s.Ref.Node), at: s.At, ref: s.Ref}
		a.started, a.late = says.Denial == algorithms.DeniedStarted, says.Yes && s.Event == "timeout"
		if a.started || a.own() {
			r.answers = append(r.answers, a)
		}
	}
}

// delayed says what took more than half of the time in which nobody led: another node was silent, and those that
// elected waited for it until they found that, or the leader before had lent its lease, or voters whose votes the
// winner needed had promised another node to elect nobody else for a while, or had just started. It returns "" if the
// records tell nothing of that.
func (in *Incident) delayed(g *group) string {
	took := in.Until.Sub(in.From)
	if in.Leader == 0 || !in.Sooner.IsZero() || in.Between != 0 || took < together {
		return ""
	}
	late := func(at time.Time) bool { return at.Sub(in.From) > took/2 && !at.After(in.Until) }
	b := in.ballot()
	if !in.Perhaps.IsZero() { // and nobody may have led for longer
		return cmp.Or(in.promised(b, late), in.started(g, b, late))
	}
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
	return cmp.Or(in.lent(g, b, late), in.promised(b, late), in.started(g, b, late))
}

// ballot returns how Leader won Term, nil if no record tells that.
func (in *Incident) ballot() *Ballot {
	i := slices.IndexFunc(in.rounds, func(r *Round) bool { return r.Term == in.Term })
	if i < 0 || in.rounds[i].Ballot == nil || in.rounds[i].Ballot.Candidate != in.Leader {
		return nil
	}
	return in.rounds[i].Ballot
}

// afterLacks says what kept the voters from a leader when enough of them were there again: ", and voter 1 had just
// started, and voted for nobody at first". It returns "" if the records do not tell, or if it was not for long.
func (in *Incident) afterLacks(g *group) string {
	back := in.lacks[len(in.lacks)-1].until
	if in.Leader == 0 || in.Until.Sub(back) < maxTransit {
		return ""
	}
	why := in.started(g, in.ballot(), func(at time.Time) bool { return at.After(back) && !at.After(in.Until) })
	if why == "" {
		return ""
	}
	return ", and " + why
}

// started says which voters refused late, since they had just started, or refused so until then, and voted for the
// winner, if it had no majority without them. The winner may be one of them. It returns "" if there are none.
func (in *Incident) started(g *group, b *Ballot, late func(time.Time) bool) string {
	if b == nil {
		return ""
	}
	var all []answer
	for _, r := range in.rounds {
		before := in.Former != 0 && r.From.Before(in.Began()) // who hears an answer may have asked for it before
		for _, a := range r.answers {
			if a.own() || !before {
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b answer) int { return a.at.Compare(b.at) })
	said, last := map[uint64][]Ref{}, map[Ref]answer{} // by voter, and by its process
	for _, a := range all {
		process := Ref{Node: a.voter, Incarnation: a.ref.Incarnation}
		switch was := last[process]; {
		case a.started && late(a.at) && (said[a.voter] == nil || a.own()):
			said[a.voter] = []Ref{a.ref}
		case a.late && was.started && late(a.at) && !was.at.Before(in.From): // another promise may have bound it since
			said[a.voter] = []Ref{was.ref, a.ref}
		}
		if a.own() {
			last[process] = a
		}
	}
	if own := in.ownWait(g, b, late); own != nil {
		said[b.Candidate] = own
	}
	refs := func(v *Voice) []Ref { return said[v.Voter] }
	return in.needed(b, refs, "had just started, and voted for nobody at first")
}

// ownWait returns the records by which the winner became a candidate late, since it had just started until then: that
// of its beginning, and that in which it became one. It returns nil if they do not tell it.
func (in *Incident) ownWait(g *group, b *Ballot, late func(time.Time) bool) []Ref {
	m := g.nodes[b.Candidate]
	if m == nil || m.byIncarnation[b.Ref.Incarnation] == nil {
		return nil
	}
	l := m.byIncarnation[b.Ref.Incarnation]
	claim := l.candidacy.claim
	if !l.candidacy.waited(l) || claim.round != in.Term || !late(g.fix.at(l.node, claim.wall)) || b.Majority() < 2 {
		return nil
	}
	first := l.ref(1)
	if at, ref := g.beginning(l); !at.IsZero() {
		first = ref
	}
	return []Ref{first, l.ref(claim.seq)}
}

// needed says what was so with voters that voted for the winner, if it had no majority without them, and proves it. It
// returns "" otherwise. so returns the records that prove it of a voter.
func (in *Incident) needed(b *Ballot, so func(v *Voice) []Ref, what string) string {
	var bound []uint64
	var refs []Ref
	votes := 0
	for i := range b.Voices {
		v := &b.Voices[i]
		if !v.Counted {
			continue
		}
		votes++
		if proof := so(v); len(proof) > 0 {
			bound, refs = append(bound, v.Voter), append(refs, proof...)
		}
	}
	if len(bound) == 0 || votes-len(bound) >= b.Majority() {
		return ""
	}
	for _, ref := range refs {
		in.prove(ref)
	}
	return fmt.Sprintf("%s %s %s", words.Either(len(bound), "voter", "voters"), words.List(bound), what)
}

// promised says which voters refused the winner late, by a promise to another node, and voted for it then, if it had no
// majority without them. It returns "" if there are none.
func (in *Incident) promised(b *Ballot, late func(time.Time) bool) string {
	if b == nil {
		return ""
	}
	to := uint64(0)
	promised := func(v *Voice) []Ref {
		if v.Denial != algorithms.DeniedPromised || v.To == 0 || to != 0 && v.To != to || !late(v.refused) {
			return nil
		}
		to = v.To
		return []Ref{v.Ref}
	}
	text := in.needed(b, promised, "had promised node %d to elect nobody else for a while")
	if text == "" {
		return ""
	}
	return fmt.Sprintf(text, to)
}
