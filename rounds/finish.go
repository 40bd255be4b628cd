package rounds

import (
	"cmp"
	"maps"
	"slices"
)

// finish sets the fields that are about the group as a whole.
func (s *clusterState) finish(g *group, out *Group) {
	out.Nodes, out.Leaderships = []Node{}, make([]Leadership, 0, len(s.list))
	out.Clocks, out.Findings, out.Unknown = s.fix.list(), []Finding{}, []string{}
	for _, r := range s.list {
		r.Lease = s.lease(g, r)
		out.Leaderships = append(out.Leaderships, *r)
	}
	slices.SortStableFunc(out.Leaderships, func(a, b Leadership) int {
		return cmp.Or(cmp.Compare(a.Term, b.Term), a.From.Compare(b.From))
	})
	ids := map[uint64]bool{}
	for id := range g.nodes {
		ids[id] = true
	}
	for _, c := range s.nodes {
		for _, id := range c.alive {
			ids[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		n := s.node(id).summary()
		if m := g.nodes[id]; m != nil {
			slices.SortFunc(m.lives, byBeginning)
			for _, l := range m.lives {
				n.Records += l.records()
				n.Lives = append(n.Lives, l.summary(s.fix))
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	if out.Clocks == nil {
		out.Clocks = []Clock{}
	}
	out.Unknown = s.unknowns(g, out)
	s.assign(g, out)
}

// between returns the findings that are about several rounds, or about none. atEnd says that no
// more records come.
func (g *group) between(rounds []*Round, atEnd bool) []Finding {
	found := slices.Concat(g.state.overlaps(g, atEnd), flapping(rounds))
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		m := g.nodes[id]
		slices.SortFunc(m.lives, byBeginning)
		found = slices.Concat(found, termFell(m), sameID(m))
		for _, l := range m.lives {
			found = append(found, l.fell...)
		}
	}
	return found
}

// summary returns what the node last wrote about itself and about the other nodes.
func (c *nodeState) summary() Node {
	n := Node{
		ID: c.id, Attr: c.attr, Alive: c.alive, Term: c.term, Leader: c.leader,
		Last: c.last, Aside: c.aside, Ineligible: c.ineligible,
	}
	for id, w := range c.gone {
		n.Gone = append(n.Gone, Dropped{id, w})
	}
	slices.SortFunc(n.Gone, func(a, b Dropped) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return n
}

// assign adds each finding between rounds to the round of its term, and collects all
// findings of the group.
func (s *clusterState) assign(g *group, out *Group) {
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
