package rounds

import (
	"maps"
	"slices"
)

// noteLeaders keeps who led the term of a round that is over, and whom others followed in it, for records that come
// later. It keeps those of the highest terms.
func (p *past) noteLeaders(r *Round, all []*Leadership) {
	if r.Winner == nil || r.Winner.Ref.IsZero() {
		return
	}
	for _, w := range append([]Winner{*r.Winner}, r.Rivals...) {
		p.led[r.Term] = append(p.led[r.Term], Winner{Node: w.Node, Why: w.Why, Ref: w.Ref, At: w.At, late: w.late})
	}
	for _, l := range all {
		p.followed[r.Term] = append(p.followed[r.Term], l.Leader)
	}
	if len(p.led) > 2*keepChanges {
		terms := slices.Sorted(maps.Keys(p.led))
		for _, term := range terms[:len(terms)-keepChanges] {
			delete(p.led, term)
			delete(p.followed, term)
		}
	}
}

// noteRival notes that a node led a term whose round is over, if the record says so and none before: the node's own, or
// that of one that follows it.
func (g *group) noteRival(e *entry, term uint64) {
	p := g.past
	is := func(w Winner) bool { return w.Node == e.Leader }
	if e.Leader == 0 || len(p.led[term]) == 0 || slices.ContainsFunc(p.led[term], is) || // nearly always
		slices.ContainsFunc(p.rivals[term], is) || e.life.ledAt(e.Ref.Seq) != term {
		return
	}
	if e.Leader != e.Ref.Node {
		if !slices.Contains(p.followed[term], e.Leader) {
			p.followed[term] = append(p.followed[term], e.Leader)
			p.beside, p.rivalled = append(p.beside, leadershipKey{e.Leader, term}), true
		}
		return
	}
	late := e.Change == "" && e.life.cutBefore(e.Ref.Seq)
	w := Winner{Node: e.Ref.Node, Ref: e.Ref, At: e.Wall, late: late}
	w.because(e.reasons)
	p.rivals[term] = append(p.rivals[term], w)
	p.rivalled = true
}

// lateRivals finds where two nodes led a term, and the second one was known when the round was over.
func (g *group) lateRivals() (found []Finding) {
	if g.past == nil {
		return nil
	}
	for _, term := range slices.Sorted(maps.Keys(g.past.rivals)) {
		r, led := &Round{Term: term, Guarantee: g.guarantee}, slices.Clone(g.past.led[term])
		for _, w := range g.past.rivals[term] {
			w.At = g.fix.at(w.Node, w.At)
			for _, other := range led {
				if r.bothLed(g, other, w) {
					break
				}
			}
			led = append(led, w)
		}
		found = append(found, r.Findings...)
	}
	return append(found, g.besides()...)
}

// besides finds where nodes followed another one than who led the term, and that was known when the round was over.
func (g *group) besides() []Finding {
	p := g.past
	for _, key := range p.beside {
		if other, led := g.leaderships[key], p.led[key.term]; other != nil && len(led) > 0 {
			r := &Round{Term: key.term, Guarantee: g.guarantee, Winner: &led[0]}
			r.judgeFollowersOf(other, g)
			p.besides = append(p.besides, r.Findings...)
		}
	}
	p.beside = nil
	return p.besides
}
