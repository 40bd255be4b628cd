package rounds

import (
	"cmp"
	"maps"
	"slices"
)

// finish sets the fields that are about the group as a whole.
func (g *group) finish(out *Group) {
	out.Nodes, out.Leaderships = []Node{}, make([]Leadership, 0, len(g.list))
	out.Clocks, out.Findings = g.fix.list(), []Finding{}
	for _, r := range g.list {
		out.Leaderships = append(out.Leaderships, *r)
	}
	slices.SortStableFunc(out.Leaderships, byTerm)
	for _, id := range g.everybody() {
		out.Nodes = append(out.Nodes, g.summary(id))
	}
	if out.Clocks == nil {
		out.Clocks = []Clock{}
	}
	out.Incidents = g.incidents(out.Rounds)
	attach(out.Incidents)
	out.Unknown = g.unknowns(out)
	g.assign(out)
}

// attach notes in each round which incident it belongs to.
func attach(incidents []Incident) {
	for i := range incidents {
		for _, r := range incidents[i].rounds {
			r.Incident = &incidents[i]
		}
	}
}

// everybody returns the nodes that wrote records, or are named by others: alive, gone or leading.
func (g *group) everybody() []uint64 {
	ids := map[uint64]bool{}
	for id, m := range g.nodes {
		ids[id] = true
		for _, l := range m.lives {
			for _, h := range l.happenings {
				for _, other := range h.alive {
					ids[other] = true
				}
			}
		}
	}
	for id := range g.drops {
		ids[id] = true
	}
	for _, r := range g.list {
		ids[r.Leader] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// between returns the findings that are about several rounds, or about none. atEnd says that no
// more records come.
func (g *group) between(rounds []*Round, atEnd bool) []Finding {
	incidents := g.incidents(rounds)
	found := slices.Concat(g.overlaps(atEnd), g.reportedSplits(), withoutEnd(incidents), g.flapping(incidents))
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		found = slices.Concat(found, termFell(g.nodes[id]), sameID(g.nodes[id]))
	}
	return found
}

// summary returns a node's processes, and what the last of them wrote about itself and the other nodes.
func (g *group) summary(id uint64) Node {
	n := Node{ID: id, Attr: g.attr(id)}
	l := g.current(id)
	if l == nil {
		return n
	}
	for _, l := range g.nodes[id].lives {
		n.Records += l.records()
		n.Lives = append(n.Lives, g.life(l))
	}
	b := g.lastBelief(id)
	n.Term, n.Leader, n.Last = cmp.Or(b.term, l.top.round), b.leader, l.ref(l.last())
	n.Aside, n.Ineligible = l.standing()
	if view, ok := l.viewAt(l.last()); ok {
		n.Alive = view.alive
	}
	for _, d := range l.dropsBy(g.fix) {
		if d.back.IsZero() {
			n.Gone = slices.DeleteFunc(n.Gone, func(was Dropped) bool { return was.ID == d.about })
			n.Gone = append(n.Gone, Dropped{d.about, d.Detection})
		}
	}
	slices.SortFunc(n.Gone, func(a, b Dropped) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return n
}

// assign adds each finding between rounds to the round of its term, and collects all
// findings of the group.
func (g *group) assign(out *Group) {
	byTerm := map[uint64]*Round{}
	for _, r := range out.Rounds {
		byTerm[r.Term] = r
	}
	for _, f := range g.between(out.Rounds, true) {
		if g.stream != nil && g.stream.said[f.key()] {
			continue
		}
		if r := byTerm[f.Term]; r != nil {
			r.Findings = append(r.Findings, f)
			continue
		}
		out.Findings = append(out.Findings, f)
	}
	for _, r := range out.Rounds {
		out.Findings = append(out.Findings, r.Findings...)
	}
}
