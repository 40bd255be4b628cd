package rounds

import (
	"maps"
	"slices"
	"time"
)

// build builds every round, the lowest term first.
func (g *group) build() *Group {
	out := &Group{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee, Run: g.key.run, Era: g.key.era,
		Rounds: []*Round{},
	}
	terms := slices.Sorted(maps.Keys(g.open))
	g.ending = true
	g.survey(terms)
	for i, term := range terms {
		next := uint64(0)
		if i+1 < len(terms) {
			next = terms[i+1]
		}
		if r := g.round(g.open[term], next); r != nil {
			out.Rounds = append(out.Rounds, r)
		}
	}
	g.finish(out)
	return out
}

// survey learns from the records of all terms what no single round tells: how far the clocks differ, who had
// evidence against whom, who led when.
func (g *group) survey(terms []uint64) {
	greeted := g.greeted()
	for id, m := range g.nodes {
		m.lives, m.apart = append(m.lives, m.apart...), nil
		slices.SortFunc(m.lives, byBeginning)
		g.setApart(m)
		g.setSilent(m, greeted[id])
		all := m.all()
		if m.senders = all; len(m.apart) > 0 {
			m.senders = slices.SortedFunc(slices.Values(slices.Concat(all, m.apart)), byBeginning)
		}
		for i, l := range m.senders {
			l.earlier, l.sent = i, l.sent[:0]
		}
		for i, l := range all {
			if l.place, l.next = i, nil; i > 0 {
				all[i-1].next = l
			}
		}
	}
	g.pair(terms)
	g.paths = g.doubtful.paths()
	contradict := g.paths.slack > 0
	if contradict { // some of these pairs may be wrong
		g.paths = g.delays.paths()
	}
	g.linked = g.paths.linkAll(g.nodes)
	if g.key.run == 0 { // a simulated run has one clock, which is right
		g.fix = g.paths.fix()
	}
	clear(g.offs)
	g.unpair(contradict && len(g.fix) > 0)
	g.asked, g.heard, g.orphans = emptied(g.asked), emptied(g.heard), emptied(g.orphans)
	g.answered, g.maybeHeard, g.stale = emptied(g.answered), emptied(g.maybeHeard), emptied(g.stale)
	g.all, g.lacks, g.named = nil, nil, map[string]time.Time{}
	g.asks, g.lived, g.slow = map[*life][]time.Time{}, map[*life][]LifeEvent{}, map[*life][]slowReceipt{}
	g.away, g.silent = map[uint64][]absence{}, map[uint64][]absence{}
	for _, term := range terms {
		g.top = max(g.top, term)
		g.findVoters(g.open[term])
		g.noteSlow(g.open[term])
		g.noteHeard(g.open[term])
	}
	for i := range g.pairing.arrivals {
		if got := &g.pairing.arrivals[i]; g.orphan(got) {
			g.orphans[got.from] = append(g.orphans[got.from], g.sentUntil(got))
		}
	}
	for _, list := range g.asked {
		slices.SortFunc(list, func(a, b asking) int { return a.at.Compare(b.at) })
	}
	for _, lists := range []map[uint64][]time.Time{g.heard, g.maybeHeard, g.stale, g.answered} {
		for _, list := range lists {
			slices.SortFunc(list, time.Time.Compare)
		}
	}
	g.findJoins()
	clear(g.offs)
	g.last = time.Time{}
	for id, m := range g.nodes {
		for _, l := range m.lives {
			g.last = latest(g.last, g.fix.at(id, l.until))
		}
	}
	g.logsEnd = g.last
	for id := range g.nodes {
		g.logsEnd = latest(g.logsEnd, g.logEnd(id))
	}
	g.findDrops()
	g.findLeaderships()
}

// emptied returns the map with empty lists, which keep their memory. It drops those that were empty.
func emptied[T any](lists map[uint64][]T) map[uint64][]T {
	if lists == nil {
		return map[uint64][]T{}
	}
	maps.DeleteFunc(lists, func(_ uint64, list []T) bool { return len(list) == 0 })
	for id, list := range lists {
		lists[id] = list[:0]
	}
	return lists
}

// unsent reports whether no record of its sender shows a message with the number, not even one that is not kept.
func (g *group) unsent(got *arrival) bool { return got.sent == 0 && !g.sentQuietly(got) }

// orphan reports whether no record of its sender may show the message: another process sent one of another kind with
// its number.
func (g *group) orphan(got *arrival) bool {
	may := func(m post) bool { return m.may(&got.receipt) }
	return !slices.ContainsFunc(g.pairing.same(&got.receipt), may) && !g.sentQuietly(got)
}

// sentUntil returns by when the message had been sent: when it was received, or before, if a record of its process
// shows a later one: it may have been held up.
func (g *group) sentUntil(got *arrival) time.Time {
	at := g.fix.at(got.to, got.wall)
	if m := g.nodes[got.from]; m != nil {
		if l := m.byIncarnation[got.sender]; l != nil && got.n > 0 && got.n <= l.numbered {
			return earliest(at, g.fix.at(l.node, l.sentBy(got.n)))
		}
	}
	return at
}

// sentQuietly reports whether a record of its sender that is not kept may have sent the message: one with its number,
// of a process that sent messages of its kind in such records.
func (g *group) sentQuietly(got *arrival) bool {
	m := g.nodes[got.from]
	return m != nil && slices.ContainsFunc(m.lives, func(l *life) bool {
		return l.sentQuietly(got.n) && (got.kind == "" || slices.Contains(l.quietKinds, got.kind))
	})
}

// findVoters notes who votes in a term.
func (g *group) findVoters(t *log) {
	for _, e := range t.entries {
		for _, m := range e.sent {
			if slices.Contains(askKinds, m.kind) {
				g.voters[m.to], g.voters[e.Ref.Node] = true, true
				g.asked[m.to] = append(g.asked[m.to], asking{g.fix.at(e.Ref.Node, e.Wall), e.Ref})
			}
		}
	}
}
