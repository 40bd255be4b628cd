package rounds

import (
	"cmp"
	"maps"
	"slices"
)

// finish fills in what is about the group as a whole.
func (s *story) finish(g *group, out *Group) {
	out.Nodes, out.Reigns = []Node{}, make([]Reign, 0, len(s.list))
	out.Clocks, out.Findings, out.Unknown = s.fix.list(), []Finding{}, []string{}
	for _, r := range s.list {
		r.Lease = s.lease(g, r)
		out.Reigns = append(out.Reigns, *r)
	}
	slices.SortStableFunc(out.Reigns, func(a, b Reign) int {
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
		n := s.character(id).tell()
		if m := g.nodes[id]; m != nil {
			slices.SortFunc(m.lives, byBeginning)
			for _, l := range m.lives {
				n.Records += l.records()
				n.Lives = append(n.Lives, l.tell(s.fix))
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

// between finds what is wrong between these rounds and beyond them; atEnd says that no
// record is still to come.
func (g *group) between(rounds []*Round, atEnd bool) []Finding {
	found := slices.Concat(g.story.overlaps(g, atEnd), flapping(rounds))
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

// tell is what the node last wrote of itself and of the others.
func (c *character) tell() Node {
	n := Node{
		ID: c.id, Attr: c.attr, Alive: c.alive, Term: c.term, Leader: c.leader,
		Last: c.last, Aside: c.aside, Ineligible: c.barred,
	}
	for id, w := range c.gone {
		n.Gone = append(n.Gone, Dropped{id, w})
	}
	slices.SortFunc(n.Gone, func(a, b Dropped) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return n
}

// assign gathers all findings, and gives those that lie between rounds to the
// rounds of their terms.
func (s *story) assign(g *group, out *Group) {
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
