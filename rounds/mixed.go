package rounds

import (
	"maps"
	"slices"
)

// mix sets Mixed, and drops the findings that are not true then.
func (out *Group) mix() {
	var twice []uint64
	wrote := 0
	for _, n := range out.Nodes {
		if n.Records > 0 {
			wrote++
		}
		if slices.ContainsFunc(out.Findings, func(f Finding) bool {
			return f.Name == SameID && f.Records[0].Node == n.ID
		}) {
			twice = append(twice, n.ID)
		}
	}
	if len(twice) < 2 || 2*len(twice) <= wrote {
		return // a single node that runs twice
	}
	out.Mixed = twice
	other := func(f Finding) bool { return f.Name != SameID }
	out.Findings, out.Loose = slices.DeleteFunc(out.Findings, other), slices.DeleteFunc(out.Loose, other)
	for _, r := range out.Rounds {
		r.Findings = slices.DeleteFunc(r.Findings, other)
	}
}

// parts returns the nodes of each part of the group that led, if there are several, none knows of a node of another,
// and two led the same term.
func (g *group) parts() [][]uint64 {
	if g.key.run > 0 || !slices.ContainsFunc(g.list, func(r *Leadership) bool { return len(g.byTerm[r.Term]) > 1 }) {
		return nil
	}
	above := map[uint64]uint64{} // a node of the same part, up to the one that has no entry
	top := func(id uint64) uint64 {
		for above[id] != 0 {
			id = above[id]
		}
		return id
	}
	link := func(a, b uint64) {
		if a, b = top(a), top(b); a != b && a != 0 && b != 0 {
			above[a] = b
		}
	}
	for id, m := range g.nodes {
		for _, l := range m.lives {
			for _, h := range l.happenings {
				for _, other := range h.alive {
					link(id, other)
				}
			}
		}
	}
	for pair := range g.dropsBy {
		link(pair[0], pair[1])
	}
	for i := range g.pairing.arrivals {
		got := &g.pairing.arrivals[i]
		link(got.from, got.to)
	}
	for id, list := range g.asked {
		for _, by := range list {
			link(id, by.ref.Node)
		}
	}
	for _, r := range g.list {
		for _, f := range r.Followers {
			link(r.Leader, f.Node)
		}
	}
	of := map[uint64][]uint64{}
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		of[top(id)] = append(of[top(id)], id)
	}
	var parts [][]uint64
	for _, r := range g.list {
		if ids := of[top(r.Leader)]; len(ids) > 1 { // one node alone may be cut off, or its records missing
			parts = append(parts, ids)
			delete(of, top(r.Leader))
		}
	}
	return parts
}
