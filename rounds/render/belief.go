package render

import (
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// belief is what a node believes at one moment, as far as the records tell.
type belief struct {
	stand  stand
	leader uint64 // 0 is nobody
	term   uint64
}

// stand is the role of a node by its own belief, or gone by the evidence of another node.
type stand byte

const (
	unknown  stand = iota // the records do not tell it
	looking               // the node knows no leader
	follower              // the node follows belief.leader
	leader                // the node leads
	gone                  // another node has evidence that the node is gone; the node wrote no record since
)

var standNames = [...]string{"unknown", "looking", "follower", "leader", "gone"}

func (s stand) String() string { return standNames[s] }

// after returns the belief of a node after its step st. Its term is the leader's
// term in st or, if st has none, the parameter term.
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

// apply updates beliefs, which has one belief for each lane, to those after step i.
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
	if lane, ok := s.at[st.Ref.Node]; ok {
		beliefs[lane] = after(st, s.round.Term)
	}
}

// standing returns the stand of the node id by its last belief b. It is for a node that was gone, is
// back, and wrote no record since.
func (b belief) standing(id uint64) stand {
	switch b.leader {
	case 0:
		return unknown
	case id:
		return leader
	}
	return follower
}

// judged returns the nodes that the step's evidence names, as in "link-closed 5". The value is true
// if the node that took the step now believes the named node alive.
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

// believed sets the belief of each node before the first step. known returns what the rounds before tell of it.
// If they tell nothing, the first step of the node may say what it changed.
func (s *layout) believed(known func(id uint64, at time.Time) belief) {
	s.before = make([]belief, len(s.lanes))
	for lane, id := range s.lanes {
		s.before[lane] = known(id, s.zero)
	}
	told := make([]bool, len(s.lanes))
	for i := range s.round.Steps {
		st := &s.round.Steps[i]
		if lane, ok := s.at[st.Ref.Node]; ok && !told[lane] {
			told[lane] = true
			s.before[lane] = beforeFirst(st, s.before[lane])
		}
	}
	if lane, ok := s.at[s.round.Cause.Lost]; ok {
		s.before[lane].stand = gone
	}
}

// beforeFirst returns the belief of a node before st, its first step of a round. known is what the rounds before tell
// of it, where records may be missing.
func beforeFirst(st *rounds.Step, known belief) belief {
	was := belief{leader: st.Leader, term: st.LeaderTerm}
	if st.Change != "" {
		was = belief{leader: st.Prev}
	}
	sure := known.stand != unknown && known.stand != gone
	switch {
	case st.Event == "start", sure && known.leader == was.leader:
		return known
	case was.leader != 0 || st.Change != "":
		was.stand = was.standing(st.Ref.Node)
	default:
		was.stand = looking
	}
	return was
}
