package rounds

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// lead returns led, the nodes that led the term, with the node of step i added if it began to lead
// in that step. debug says that this node writes down each of its views.
func (r *Round) lead(led []Winner, i int, s *clusterState, debug bool) []Winner {
	st := &r.Steps[i]
	if st.led() == 0 || st.led() != st.Ref.Node ||
		slices.ContainsFunc(led, func(w Winner) bool { return w.Node == st.Leader }) {
		return led
	}
	w := Winner{Node: st.Leader, Ref: st.Ref, At: st.At}
	for j := range st.reasons {
		if wins, ok := decided[algorithms.Wins](&st.reasons[j]); ok {
			w.cause = st.reasons[j].cause(wins.Cause)
			w.Why = w.cause.why
		}
	}
	c := s.node(st.Leader)
	switch receivers := r.announcedTo(st); {
	case c.alive != nil && (debug || c.viewed == r.Term):
		w.Live = slices.Clone(c.alive)
	case len(receivers) > 0:
		w.Live = append(receivers, st.Leader)
	}
	slices.Sort(w.Live)
	return append(led, w)
}

// announcedTo returns the nodes to which the step, in which a node won, announced this: in most algorithms
// all nodes that the winner believes alive, else those of its group.
func (r *Round) announcedTo(st *Step) (ids []uint64) {
	for _, i := range st.Sent {
		m := r.Messages[i]
		kind, ok := catalog.KindOf(r.Algorithm, m.Kind)
		if ok && kind.Is(proto.TellsAll) && !slices.Contains(ids, m.To) {
			ids = append(ids, m.To)
		}
	}
	return ids
}

// choose chooses the winner among the nodes that led the term, in their order: the first one that
// all nodes which it believed alive followed before the next one led. Until such a node is found,
// a later one with a higher id replaces the one chosen so far.
func (r *Round) choose(led []Winner) {
	if len(led) == 0 {
		if id := r.namedLeader(); id != 0 { // its own records are missing
			r.Winner = &Winner{Node: id, Live: r.acted()}
		}
		return
	}
	chosen := 0
	for next := 1; next < len(led) && !r.followed(led[chosen], led[next]); next++ {
		if led[next].Node > led[chosen].Node { // its leadership prevails
			chosen = next
		}
	}
	r.Winner = &led[chosen]
	r.Rivals = slices.Delete(slices.Clone(led), chosen, chosen+1)
	if r.Winner.Live == nil {
		r.Winner.Live = r.acted()
	}
}

// followed reports whether all nodes that w believed alive followed w before the next leader's
// record.
func (r *Round) followed(w, next Winner) bool {
	believed := map[uint64]bool{w.Node: true}
	for i := range r.Steps {
		st := &r.Steps[i]
		if st.Ref == next.Ref {
			break
		}
		if st.led() == w.Node {
			believed[st.Ref.Node] = true
		}
	}
	return len(w.Live) > 0 && !slices.ContainsFunc(w.Live, func(id uint64) bool { return !believed[id] })
}

// namedLeader returns the first node that a record names as the leader, 0 for none.
func (r *Round) namedLeader() uint64 {
	for i := range r.Steps {
		if led := r.Steps[i].led(); led != 0 {
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
