package render

import (
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// belief is what a node believes at one moment, as far as the records tell.
type belief struct {
	stand  stand
	leader uint64 // 0 is nobody
	term   uint64
}

// stand is what a node is by its own belief, or gone by the evidence of another node.
type stand byte

const (
	unknown  stand = iota // it wrote nothing yet
	looking               // it knows no leader
	follower              // it follows belief.leader
	leader                // it leads
	gone                  // another has evidence that it is gone, and it wrote nothing since
)

var standNames = [...]string{"unknown", "looking", "follower", "leader", "gone"}

func (s stand) String() string { return standNames[s] }

// after is the belief of a node after its step.
func after(st *rounds.Step, term uint64) belief {
	if st.LeaderTerm != 0 {
		term = st.LeaderTerm
	}
	b := belief{leader: st.Leader, term: term, stand: follower}
	switch st.Leader {
	case 0:
		b.stand = looking
	case st.Ref.Node:
		b.stand = leader
	}
	return b
}

// apply changes the beliefs, one for each lane, by step i.
func (s *layout) apply(i int, beliefs []belief) {
	st := &s.round.Steps[i]
	for id, back := range judged(st) {
		lane, ok := s.at[id]
		switch {
		case !ok || id == st.Ref.Node:
		case !back:
			beliefs[lane].stand = gone
		case beliefs[lane].stand == gone:
			beliefs[lane].stand = beliefs[lane].standing(id)
		}
	}
	beliefs[s.lane(st.Ref.Node)] = after(st, s.round.Term)
}

// standing is what a node is by its last belief, for one that is back and has not written
// since.
func (b belief) standing(id uint64) stand {
	switch b.leader {
	case 0:
		return unknown
	case id:
		return leader
	}
	return follower
}

// judged are the nodes in the step's evidence, "link-closed 5", and whether the new view
// has them alive.
func judged(st *rounds.Step) map[uint64]bool {
	if st.Event != "peers" || st.Evidence == "" {
		return nil
	}
	about := map[uint64]bool{}
	for piece := range strings.SplitSeq(st.Evidence, ", ") {
		_, number, _ := strings.Cut(piece, " ")
		if id, err := strconv.ParseUint(number, 10, 64); err == nil {
			about[id] = false
		}
	}
	for _, id := range st.Alive {
		if _, ok := about[id]; ok {
			about[id] = true
		}
	}
	return about
}

// believed sets the beliefs before the first step: those after the round before, where known
// has them, or else what a step says that it changed.
func (s *layout) believed(known map[uint64]belief) {
	s.before = make([]belief, len(s.lanes))
	for lane, id := range s.lanes {
		s.before[lane] = known[id]
	}
	told := make([]bool, len(s.lanes))
	for i := range s.round.Steps {
		st := &s.round.Steps[i]
		if lane := s.lane(st.Ref.Node); !told[lane] {
			told[lane] = true
			s.before[lane] = beforeFirst(st, s.before[lane])
		}
	}
	if lane, ok := s.at[s.round.Cause.Lost]; ok {
		s.before[lane].stand = gone
	}
}

// beforeFirst is what a node believed before its first step of a round.
func beforeFirst(st *rounds.Step, known belief) belief {
	switch {
	case known.stand == unknown && st.Change != "" && st.Prev != 0:
		b := belief{leader: st.Prev}
		b.stand = b.standing(st.Ref.Node)
		return b
	case known.stand == gone && st.Event != "start": // whoever thought so erred
		known.stand = known.standing(st.Ref.Node)
	}
	return known
}
