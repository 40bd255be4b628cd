package render

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// layout is what all formats draw of a round.
type layout struct {
	round  *rounds.Round
	lanes  []uint64       // the nodes, from left to right
	at     map[uint64]int // the index of each node in lanes
	zero   time.Time      // times count from here
	before []belief       // the belief of each lane before the first step
	phases []phase        // in order, without empty ones
	bands  []band         // they cover all steps
}

// newLayout lays out a round. Without lanes, every node of the round has one. Without
// before, only the steps tell what nodes believed before.
func newLayout(r *rounds.Round, lanes []uint64, before map[uint64]belief) *layout {
	s := &layout{round: r, lanes: lanes, at: map[uint64]int{}, zero: r.Split.Began}
	if s.lanes == nil {
		s.lanes = inPlace(r.Algorithm, []*rounds.Round{r}, involved(r))
	}
	for i, id := range s.lanes {
		s.at[id] = i
	}
	if s.zero.IsZero() && len(r.Steps) > 0 {
		s.zero = r.Steps[0].At
	}
	s.believed(before)
	s.phases = phases(r)
	s.bands = bands(s)
	return s
}

// involved are the nodes of a round, its senders and receivers and the lost leader, by id.
func involved(r *rounds.Round) []uint64 {
	ids := map[uint64]bool{}
	for _, p := range r.Participants {
		ids[p.Node] = true
	}
	for i := range r.Steps {
		ids[r.Steps[i].Ref.Node] = true
	}
	for _, m := range r.Messages {
		ids[m.From], ids[m.To] = true, true
	}
	ids[r.Cause.Lost] = true
	delete(ids, 0)
	return sorted(ids)
}

func sorted(ids map[uint64]bool) []uint64 {
	list := make([]uint64, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// since is the time of a step, counted from zero.
func (s *layout) since(step int) time.Duration { return s.round.Steps[step].At.Sub(s.zero) }

// lane is the index of a node's lane.
func (s *layout) lane(id uint64) int { return s.at[id] }

// winning is the index of the winner's own step, -1 for none.
func winning(r *rounds.Round) int {
	if r.Winner == nil || r.Winner.Ref.IsZero() {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(st rounds.Step) bool { return st.Ref == r.Winner.Ref })
}
