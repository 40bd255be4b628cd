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
	var before map[leadershipKey]Leadership
	if g.past != nil {
		before = g.past.leaderships
	}
	for _, r := range before {
		out.Leaderships = append(out.Leaderships, r)
	}
	for _, r := range g.list {
		if _, kept := before[leadershipKey{r.Leader, r.Term}]; !kept {
			out.Leaderships = append(out.Leaderships, *r)
		}
	}
	slices.SortStableFunc(out.Leaderships, byTerm)
	for _, id := range g.everybody() {
		out.Nodes = append(out.Nodes, g.summary(id))
	}
	if out.Clocks == nil {
		out.Clocks = []Clock{}
	}
	rounds := out.Rounds
	if p := g.past; p != nil {
		rounds = slices.Concat(p.recent, out.Rounds)
		out.Leaderless, out.From = p.sum, p.from
	}
	out.Incidents = g.incidents(rounds)
	attach(out.Incidents)
	for i := range out.Incidents {
		out.Leaderless.add(&out.Incidents[i])
	}
	out.Leaderless.AtLeast = out.Leaderless.AtLeast || g.changesUntold
	out.Until = g.last
	for _, m := range g.nodes {
		for _, l := range m.lives {
			if first := g.fix.at(l.node, l.from); out.From.IsZero() || first.Before(out.From) {
				out.From = first
			}
		}
	}
	apart := g.unlinkedClocks(out)
	for i := range out.Clocks {
		if c := &out.Clocks[i]; slices.Contains(apart, c.Node) {
			c.Error = 0 // it is that of their messages with each other
		}
	}
	out.Unknown = g.unknowns(out, apart)
	g.assign(out)
	if g.past != nil {
		out.Incidents = append(g.past.incidents, out.Incidents...)
	}
	out.mix()
	out.parts = g.parts()
}

// attach notes in each round which incident it belongs to.
func attach(incidents []Incident) {
	for i := range incidents {
		incidents[i].attach()
	}
}

func (in *Incident) attach() {
	for _, r := range in.rounds {
		if !r.further {
			r.Incident = in
		}
		if r.of == nil {
			continue
		}
		r.of.Further = slices.DeleteFunc(r.of.Further, func(was *Incident) bool { return was.Leader == in.Leader })
		r.of.Further = append(r.of.Further, in)
	}
}

// everybody returns the nodes that wrote records, or are named by others: alive, gone or leading, or sent a message.
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
			for i := range l.sent {
				ids[l.sent[i].to] = true
			}
		}
	}
	for id := range g.drops {
		ids[id] = true
	}
	if g.past != nil {
		maps.Copy(ids, g.past.ids)
	}
	for _, r := range g.list {
		ids[r.Leader] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// everyNode returns what everybody does, as rounds are built: once for all of them.
func (g *group) everyNode() []uint64 {
	if g.all == nil {
		g.all = g.everybody()
	}
	return g.all
}

// between returns the findings that are about several rounds, or about none. atEnd says that no
// more records come.
func (g *group) between(incidents []Incident, atEnd bool) []Finding {
	if n := len(incidents); n > 0 && incidents[n-1].Leader == 0 && !atEnd {
		incidents = incidents[:n-1]
	}
	often, _ := flapping(g.unasked(incidents), atEnd || g.bounds == nil)
	found := slices.Concat(g.lateRivals(), g.overlaps(incidents, atEnd), g.reportedSplits(), g.withoutEnd(incidents))
	found = append(found, often...)
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		found = slices.Concat(found, termFell(g.nodes[id], !leased(g.guarantee)), sameID(g.nodes[id]))
	}
	return found
}

// summary returns a node's processes, and what the last of them wrote about itself and the other nodes.
func (g *group) summary(id uint64) Node {
	n := Node{ID: id, Attr: g.attr(id), Refusals: g.refusals(id)}
	l := g.current(id)
	if l == nil {
		return n
	}
	over := g.nodes[id].forgotten
	n.Lives = over.told
	n.Records, n.lost, n.text, n.Unauthenticated = over.records, over.lost, over.text, over.exposed
	all := g.nodes[id].all()
	n.Restarts = over.lives + len(all) - 1
	k := over.kept
	for _, l := range all {
		n.Lives, k = append(n.Lives, g.life(l, k)), k.then(l)
	}
	for _, l := range g.nodes[id].lives {
		n.Records += l.records()
		n.lost += l.missing()
		n.text, n.Unauthenticated = n.text || l.text, n.Unauthenticated || l.exposed
	}
	if last := all[len(all)-1]; last != l { // which believes nothing yet
		n.Last, n.Refused = last.ref(0), g.refused(last)
		return n
	}
	b := g.lastBelief(id)
	n.Term, n.Leader, n.Last = cmp.Or(b.term, l.top.round), b.leader, l.ref(l.last())
	n.Refused = g.refused(l)
	if !g.wonAfter(id, n.Term) {
		n.Aside, n.Ineligible = l.standing()
		n.Voteless = l.voteless()
	}
	if view, ok := l.viewAt(l.last()); ok {
		n.Alive, n.AliveRef = view.alive, l.ref(view.seq)
	}
	for _, d := range l.dropsBy(g.fix) {
		if d.back.IsZero() {
			n.Gone = slices.DeleteFunc(n.Gone, func(was Dropped) bool { return was.ID == d.about })
			n.Gone = append(n.Gone, Dropped{d.about, d.Detection, !g.seenAgain(d.about, d.At).IsZero()})
		}
	}
	slices.SortFunc(n.Gone, func(a, b Dropped) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return n
}

// wonAfter reports whether the node led a term above the given one: it stood, and voted, after its records end.
func (g *group) wonAfter(id, term uint64) bool {
	return slices.ContainsFunc(g.byLeader[id], func(r *Leadership) bool { return r.Term > term })
}

// assign adds each finding between rounds to the round of its term, and collects all
// findings of the group.
func (g *group) assign(out *Group) {
	byTerm := map[uint64]*Round{}
	for _, r := range out.Rounds {
		byTerm[r.Term] = r
	}
	p := cmp.Or(g.past, &past{})
	var between []Finding
	for _, f := range g.between(out.Incidents, true) {
		if p.said[f.key()] {
			continue
		}
		if r := byTerm[f.Term]; r != nil {
			r.Findings = append(r.Findings, f)
			continue
		}
		between = append(between, f)
	}
	if g.bounds != nil {
		p.keep(nil, between)
		out.Loose, out.Findings = p.loose, p.findings
	} else {
		out.Loose, out.Findings = between, slices.Clone(between)
	}
	for _, r := range out.Rounds {
		out.Findings = append(out.Findings, r.Findings...)
	}
	if g.bounds != nil {
		out.Rounds, out.Left = slices.Concat(p.kept, p.recent, out.Rounds), p.left
	}
	if out.Findings == nil {
		out.Findings = []Finding{}
	}
}
