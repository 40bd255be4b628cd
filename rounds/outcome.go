package rounds

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// end sets how the round ended: who followed, who was left behind, where the aftermath
// begins.
func (r *Round) end(s *clusterState, g *group, next uint64) {
	r.State, r.Aftermath = Undecided, len(r.Steps)
	switch {
	case r.Winner != nil:
		r.State = Decided
	case r.Term < s.top:
		r.State, r.Next = Superseded, next
	}
	r.participate(s)
	if r.State != Decided {
		return
	}
	r.Winner.Attr = s.node(r.Winner.Node).attr
	r.Winner.Rule = r.Winner.cause.rule(r.Algorithm)
	last := -1
	for i := range r.Steps {
		if r.believes(&r.Steps[i]) {
			last = i
		}
	}
	r.Aftermath = last + 1
	for _, p := range r.Participants {
		if p.Part == PartBehind {
			r.LeftBehind = append(r.LeftBehind, r.straggler(p, s, g))
		}
	}
}

// believes reports whether the step is the first one in which the winner, or a follower that it
// believed alive, names the winner as the leader.
func (r *Round) believes(st *Step) bool {
	p := r.participant(st.Ref.Node)
	return p.Believed == st.Ref && (p.Part == PartFollower || p.Part == PartWinner)
}

// participate lists the nodes that took part or should have.
func (r *Round) participate(s *clusterState) {
	part := func(id uint64) *Participant {
		if p := r.participant(id); p.Node == id {
			return p
		}
		r.Participants = append(r.Participants, Participant{Node: id, Attr: s.node(id).attr})
		return &r.Participants[len(r.Participants)-1]
	}
	var late map[uint64]bool // the processes that started when there was a leader
	won := r.place()
	for i := range r.Steps {
		st := &r.Steps[i]
		p := part(st.Ref.Node)
		if won >= 0 && i > won && st.Event == "start" && p.Believed.IsZero() {
			if late == nil {
				late = map[uint64]bool{}
			}
			late[st.Ref.Node] = true
		}
		if r.Winner != nil && st.led() == r.Winner.Node && p.Believed.IsZero() {
			p.Believed, p.BelievedAt = st.Ref, st.At
		}
	}
	if r.Winner != nil {
		part(r.Winner.Node)
		for _, id := range r.Winner.Live {
			part(id)
		}
	}
	for i := range r.Participants {
		p := &r.Participants[i]
		p.Part = r.part(p, late[p.Node], s)
	}
	slices.SortFunc(r.Participants, func(a, b Participant) int { return cmp.Compare(a.Node, b.Node) })
}

// place returns the index of the winner's step, or -1 if there is none.
func (r *Round) place() int {
	if r.Winner == nil {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(st Step) bool { return st.Ref == r.Winner.Ref })
}

// part returns the part that a node had in the round.
func (r *Round) part(p *Participant, late bool, s *clusterState) Part {
	switch {
	case r.Winner == nil:
		return PartVoter
	case p.Node == r.Winner.Node:
		return PartWinner
	case p.Node == r.Cause.Lost:
		return PartLost
	case late || !slices.Contains(r.Winner.Live, p.Node):
		return PartJoined
	case !p.Believed.IsZero():
		return PartFollower
	case s.node(p.Node).last.IsZero():
		return PartSilent
	}
	return PartBehind
}

// count counts the messages by kind, and compares the counts with the theory.
func (r *Round) count() {
	byKind := map[string]int{}
	r.markCounted()
	for _, m := range r.Messages {
		if !m.Counted {
			continue
		}
		byKind[m.Kind]++
		r.participant(m.From).Sent++
		if m.ReceiveStep >= 0 {
			r.participant(m.To).Received++
		}
	}
	for kind, n := range byKind {
		r.Counts = append(r.Counts, KindCount{kind, n})
	}
	slices.SortFunc(r.Counts, func(a, b KindCount) int { return cmp.Compare(a.Kind, b.Kind) })
	entry, err := catalog.Lookup(r.Algorithm)
	if err != nil || r.Winner == nil || len(r.Winner.Live) == 0 {
		return
	}
	if !entry.Leased || entry.Theory.Among != nil { // else all its messages are those of the votes
		r.Theory = theoryOf(entry.Theory, len(r.Winner.Live), byKind)
	}
	r.votersTheory(entry.Theory.Among, byKind)
}

// markCounted marks the messages that were sent before the aftermath, and those that answer
// a marked one.
func (r *Round) markCounted() {
	for i := range r.Steps {
		st := &r.Steps[i]
		answers := st.Received >= 0 && r.Messages[st.Received].Counted
		for _, m := range st.Sent {
			r.Messages[m].Counted = i < r.Aftermath || answers
		}
	}
}

func (r *Round) participant(id uint64) *Participant {
	for i := range r.Participants {
		if r.Participants[i].Node == id {
			return &r.Participants[i]
		}
	}
	return &Participant{} // nobody reads it
}

// split sets how long each phase of the round took.
func (r *Round) split(s *clusterState, g *group) {
	p := &r.Split
	p.Error = s.fix.error()
	p.Estimated = s.fix.differ() || p.Error > sameClock
	p.Began = r.Cause.At
	if r.Winner == nil || p.Began.IsZero() {
		return
	}
	won := r.Winner.At
	if !won.IsZero() {
		p.Elect, p.ElectKnown = max(won.Sub(p.Began), 0), true
		if r.Aftermath > 0 {
			p.Ended = r.ended()
			p.Announce, p.AnnounceKnown = max(p.Ended.Sub(won), 0), true
		}
	}
	if at, ok := g.died(r.Cause.Lost, p.Began); ok {
		p.Detect, p.DetectKnown = p.Began.Sub(at), true
	} else if last, ok := g.lastWord(r.Cause.Lost, p.Began, s.fix); ok {
		p.DetectBound = p.Began.Sub(last)
	}
}

// ended returns when the last node that should follow the winner did so.
func (r *Round) ended() (last time.Time) {
	for _, p := range r.Participants {
		expected := p.Part == PartFollower || p.Part == PartWinner
		if expected && (last.IsZero() || p.BelievedAt.After(last)) {
			last = p.BelievedAt
		}
	}
	return last
}

// lastWord returns when a node wrote its last record before t.
func (g *group) lastWord(node uint64, t time.Time, fix clockFix) (at time.Time, ok bool) {
	m := g.nodes[node]
	if m == nil {
		return at, false
	}
	if l := m.at(t, fix); l != nil {
		if last, found := l.before(t, fix); found {
			return fix.at(node, last.wall), true
		}
	}
	return at, false
}

// died returns when the node last died, no later than the time before, as far as is known.
func (g *group) died(node uint64, before time.Time) (at time.Time, ok bool) {
	for _, d := range g.deaths {
		if node != 0 && d.node == node && !d.at.After(before) && d.at.After(at) {
			at, ok = d.at, true
		}
	}
	return at, ok
}
