package rounds

import (
	"maps"
	"slices"
)

// noteLeaders keeps who led the term of a round that is over, for records that come later. It keeps those of the
// highest terms.
func (p *past) noteLeaders(r *Round) {
	if r.Winner == nil || r.Winner.Ref.IsZero() {
		return
	}
	for _, w := range append([]Winner{*r.Winner}, r.Rivals...) {
		p.led[r.Term] = append(p.led[r.Term], Winner{Node: w.Node, Why: w.Why, Ref: w.Ref, At: w.At, late: w.late})
	}
	if len(p.led) > 2*keepChanges {
		terms := slices.Sorted(maps.Keys(p.led))
		for _, term := range terms[:len(terms)-keepChanges] {
			delete(p.led, term)
		}
	}
}

// noteRival notes that a node led a term whose round is over, if the record says so and none before.
func (g *group) noteRival(e *entry, term uint64) {
	p := g.past
	is := func(w Winner) bool { return w.Node == e.Ref.Node }
	leads := e.Leader == e.Ref.Node && e.life.ledAt(e.Ref.Seq) == term
	if !leads || len(p.led[term]) == 0 || slices.ContainsFunc(p.led[term], is) ||
		slices.ContainsFunc(p.rivals[term], is) {
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
	return found
}
