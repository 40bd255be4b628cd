package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// lead returns led, the nodes that led the term, with the node of step i added if it began to lead
// in that step, of the process l.
func (r *Round) lead(led []Winner, i int, l *life) []Winner {
	st := &r.Steps[i]
	if st.led() == 0 || st.led() != st.Ref.Node ||
		slices.ContainsFunc(led, func(w Winner) bool { return w.Node == st.Leader }) {
		return led
	}
	w := Winner{Node: st.Leader, Ref: st.Ref, At: st.At, late: st.Change == "" && l.cutBefore(st.Ref.Seq)}
	if w.because(st.reasons); w.late {
		return append(led, w) // what it knew then is of a later time
	}
	// At level info a process does not write down each of its views, and a later one may be missing.
	view, viewed := l.viewAt(st.Ref.Seq)
	whole := !viewed || l.rangeOf(st.Ref.Seq) <= view.seq
	receivers := r.announcedTo(st, proto.TellsAll)
	w.told = union(union(receivers, r.announcedTo(st, proto.TellsMembers)), r.answersTo(i))
	switch {
	case viewed && whole && (l.debug || view.round == r.Term):
		w.Live, w.viewed = union(slices.Clone(view.alive), w.told), true
	case len(receivers) > 0:
		w.Live, w.viewed = union([]uint64{st.Leader}, w.told), whole
	}
	slices.Sort(w.Live)
	return append(led, w)
}

// because notes why it won, by the reasons of the record in which it begins to lead.
func (w *Winner) because(reasons []reason) {
	for j := range reasons {
		if wins, ok := decided[algorithms.Wins](&reasons[j]); ok {
			w.cause = reasons[j].cause(wins.Cause)
			w.Why = w.cause.why
		}
	}
}

// answersTo returns the voters whose answers the winner got just before it won in step i, as far as it wrote them down.
func (r *Round) answersTo(i int) (ids []uint64) {
	won := &r.Steps[i]
	for j := range r.Steps[:i+1] {
		st := &r.Steps[j]
		if st.Ref.Node != won.Ref.Node || st.Received < 0 || won.At.Sub(st.At) > maxTransit {
			continue
		}
		if m := r.Messages[st.Received]; slices.Contains(answerKinds, m.Kind) && !slices.Contains(ids, m.From) {
			ids = append(ids, m.From)
		}
	}
	return ids
}

// announcedTo returns the nodes to which the step, in which a node won, announced this by messages with the trait.
func (r *Round) announcedTo(st *Step, by proto.Trait) (ids []uint64) {
	for _, i := range st.Sent {
		m := r.Messages[i]
		kind, ok := catalog.KindOf(r.Algorithm, m.Kind)
		if ok && kind.Is(by) && !slices.Contains(ids, m.To) {
			ids = append(ids, m.To)
		}
	}
	return ids
}

// choose chooses the winner among the nodes that led the term, in their order: the first one, unless
// another one made it step down. Only the records of the two leaders tell that, so that no other missing log
// changes who won.
func (r *Round) choose(led []Winner, g *group) {
	if len(led) == 0 {
		if id := r.namedLeader(g); id != 0 { // its own records are missing
			r.Winner = &Winner{Node: id, Live: r.acted()}
			r.setWon(g)
		}
		return
	}
	chosen := 0
	for next := 1; next < len(led); next++ {
		if g.deposed(led[chosen], led[next], r.Term) {
			chosen = next
		}
	}
	r.Winner = &led[chosen]
	r.Rivals = slices.Delete(slices.Clone(led), chosen, chosen+1)
	r.setWon(g)
	if r.Winner.Live == nil {
		live := slices.DeleteFunc(r.acted(), func(id uint64) bool {
			began := time.Time{}
			if l := g.nodes[id].at(r.Winner.won, g.fix); l != nil {
				began = g.fix.at(id, l.from)
			}
			return g.goneFor(r.Winner.Node, id, r.Winner.won, began)
		})
		r.Winner.Live = union(live, r.Winner.told)
		slices.Sort(r.Winner.Live)
	}
}

// setWon sets when the winner had won at the latest, and the node that tells: if the record of the win is missing, by
// the first record that names the winner. It tells nothing if it may not be the first.
func (r *Round) setWon(g *group) {
	w := r.Winner
	if w.won, w.teller = w.At, w.Node; !w.untold() {
		return
	}
	first := -1
	for i := range r.Steps {
		if st := &r.Steps[i]; st.led() == w.Node && (first < 0 || st.At.Before(r.Steps[first].At)) {
			first = i
		}
	}
	st := &r.Steps[first]
	l := g.nodes[st.Ref.Node].byIncarnation[st.Ref.Incarnation]
	if w.won, w.teller = st.At, st.Ref.Node; st.Change == "" && l != nil && l.cutBefore(st.Ref.Seq) {
		w.won = time.Time{}
	}
	for i := range r.Steps {
		if st := &r.Steps[i]; st.led() == w.Node && st.At.Sub(r.Steps[first].At) > maxTransit &&
			g.apart(st.Ref.Node, w.teller) == unbounded {
			w.won = time.Time{}
		}
	}
}

// untold reports whether the record in which the winner won is missing.
func (w *Winner) untold() bool { return w.Ref.IsZero() || w.late }

// setSoonest sets when the winner had the votes of a majority at the earliest, if the record of the win is missing: who
// may have voted in a record that is not here may have done so at any time. It stays zero if the voters do not tell.
func (r *Round) setSoonest(g *group) {
	if r.Winner == nil || !r.Winner.untold() || !leased(r.Guarantee) {
		return
	}
	votes := map[uint64]*Step{} // the first of each voter
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.To != r.Winner.Node || m.SendStep < 0 || !slices.Contains(voteKinds, m.Kind) || r.refuses(m) {
			continue
		}
		if st := &r.Steps[m.SendStep]; votes[m.From] == nil || st.At.Before(votes[m.From].At) {
			votes[m.From] = st
		}
	}
	var told []moment
	need := len(g.voters)/2 + 1
	if !g.voters[r.Winner.Node] { // it votes, too, and no record is here in which it asks
		need = (len(g.voters) + 1) / 2
	}
	for id := range g.voters {
		st := votes[id]
		switch off := g.apart(id, r.Winner.teller); {
		case id == r.Winner.Node || off == unbounded || !g.toldAll(id, r.Winner.won):
			need--
		case st != nil:
			told = append(told, moment{st.At.Add(-off), st.Ref})
		}
	}
	slices.SortFunc(told, func(a, b moment) int { return a.at.Compare(b.at) })
	if 0 < need && need <= len(told) {
		r.soonest = told[need-1]
	}
}

// moment is a time and the record that tells it.
type moment struct {
	at time.Time
	by Ref
}

// toldAll reports whether no record of the node is missing up to the time t: it wrote on, or its process had ended, and
// wrote until then. At level info it need not have had anything to write.
func (g *group) toldAll(id uint64, t time.Time) bool {
	m := g.nodes[id]
	if m == nil || slices.ContainsFunc(m.lives, func(l *life) bool { return !l.complete() }) {
		return false
	}
	last := m.lives[len(m.lives)-1]
	return !g.fix.at(id, last.until).Before(t) || slices.ContainsFunc(g.events(last), func(e LifeEvent) bool {
		return e.Kind == Ended && !e.At.After(t) && (!last.debug || !g.lacksLast(last, e.At))
	})
}

// announced is how long a leader needs at most to be heard by the nodes that it reaches.
const announced = 100 * time.Millisecond

// deposed reports whether w stopped leading the term when it heard of its rival, which led on and had begun before
// the announcement of w can have reached everybody. A node that comes later to lead the term did not win it.
func (g *group) deposed(w, rival Winner, term uint64) bool {
	if rival.At.Sub(w.At) > announced {
		return false
	}
	a, b := g.leaderships[leadershipKey{w.Node, term}], g.leaderships[leadershipKey{rival.Node, term}]
	if a == nil || b == nil || a.Last.IsZero() || a.endedBy.from != rival.Node {
		return false
	}
	return b.Last.IsZero() || b.Until.After(a.Until)
}

// namedLeader returns the first node that a record names as the leader, 0 for none. A node whose own records tell
// that it did not lead does not count.
func (r *Round) namedLeader(g *group) uint64 {
	for i := range r.Steps {
		if led := r.Steps[i].led(); led != 0 && g.leaderships[leadershipKey{led, r.Term}] != nil {
			return led
		}
	}
	return 0
}

// acted returns the nodes with records of the round, without those that started when the round had
// a leader already.
func (r *Round) acted() []uint64 {
	acted := map[uint64]bool{}
	decided := false
	for i := range r.Steps {
		st := &r.Steps[i]
		if _, known := acted[st.Ref.Node]; !known {
			acted[st.Ref.Node] = !decided || st.Event != "start"
		}
		decided = decided || st.led() != 0
	}
	var ids []uint64
	for id, counts := range acted {
		if counts {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
