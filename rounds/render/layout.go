package render

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// layout has the parts of a round that all formats draw.
type layout struct {
	round  *rounds.Round
	refs   *rounds.Names  // of its records; nil for their short names
	lanes  []uint64       // the nodes, from left to right; the last one may be others, for nodes without a lane
	at     map[uint64]int // the index of each node in lanes
	more   int            // the nodes without a lane
	zero   time.Time      // the time from which all times are counted
	before []belief       // the belief of each lane before the first step
	phases []phase        // in order, without empty ones
	bands  []band         // they cover all steps
}

const (
	// maxLanes is how many lanes there are at most.
	maxLanes = 128
	// others stands for all nodes without a lane.
	others = 0
)

// newLayout lays out a round. If lanes is nil, every node of the round gets a lane, unless there are too many. If
// before is nil, only the steps themselves tell what the nodes believed before the round.
func newLayout(r *rounds.Round, lanes []uint64, before func(id uint64, at time.Time) belief) *layout {
	s := &layout{round: r, lanes: lanes, at: map[uint64]int{}, zero: r.Split.Began}
	if s.lanes == nil {
		s.lanes = foldLanes([]*rounds.Round{r}, inPlace(r.Algorithm, []*rounds.Round{r}, involved(r)))
	}
	for i, id := range s.lanes {
		if id != others {
			s.at[id] = i
		}
	}
	if len(s.at) < len(s.lanes) {
		s.more = len(slices.DeleteFunc(involved(r), func(id uint64) bool { return s.has(id) }))
	}
	if s.zero.IsZero() && len(r.Steps) > 0 {
		s.zero = r.Steps[0].At
	}
	if before == nil {
		before = func(uint64, time.Time) belief { return belief{} }
	}
	s.believed(before)
	s.phases = phases(r)
	s.bands = bands(s)
	return s
}

// involved returns the ids of the nodes that appear in a round, sorted: those that took part, sent,
// or received a message, and the lost leader.
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

// since returns the time of a step, counted from s.zero.
func (s *layout) since(step int) time.Duration { return s.round.Steps[step].At.Sub(s.zero) }

// lane returns the index of a node's lane.
func (s *layout) lane(id uint64) int {
	if i, ok := s.at[id]; ok {
		return i
	}
	return len(s.lanes) - 1
}

// has reports whether the node has a lane of its own.
func (s *layout) has(id uint64) bool {
	_, ok := s.at[id]
	return ok
}

// name returns the name above a lane.
func (s *layout) name(lane int) string { return laneName(s.lanes[lane], s.more) }

func laneName(id uint64, more int) string {
	if id == others {
		return fmt.Sprintf("%d more", more)
	}
	return strconv.FormatUint(id, 10)
}

// foldLanes returns the nodes that have a lane, in the order of ids. If those are too many, the nodes come first that
// won or were lost, then those that took steps, then the others in their order.
func foldLanes(all []*rounds.Round, ids []uint64) []uint64 {
	if len(ids) <= maxLanes {
		return ids
	}
	chosen := map[uint64]bool{0: true}
	add := func(id uint64) {
		if len(chosen) < maxLanes {
			chosen[id] = true
		}
	}
	for _, r := range slices.Backward(all) {
		if add(r.Cause.Lost); r.Winner != nil {
			add(r.Winner.Node)
		}
	}
	for _, r := range slices.Backward(all) {
		for i := range r.Steps {
			add(r.Steps[i].Ref.Node)
		}
	}
	for _, id := range ids {
		add(id)
	}
	lanes := slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return !chosen[id] })
	return append(lanes, others)
}

// winning returns the index of the step in which the winner won, or -1 if there is no such step.
func winning(r *rounds.Round) int {
	if r.Winner == nil || r.Winner.Ref.IsZero() {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(st rounds.Step) bool { return st.Ref == r.Winner.Ref })
}
