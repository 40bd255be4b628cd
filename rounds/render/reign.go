package render

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// reign is a reign as the timeline shows it. Records end with the last thing
// that there was to write, and beliefs last on: Until is when the leader stepped
// down or the first evidence against it, and believed when the last node let
// go of it; both are the end of all records where nothing speaks against it.
type reign struct {
	rounds.Reign
	believed time.Time
}

// reignsOf are the reigns in the terms shown whose time is known.
func reignsOf(g *rounds.Group, shown []*rounds.Round) (reigns []reign) {
	end := endOf(g)
	for _, r := range g.Reigns {
		if r.From.IsZero() || len(shown) > 0 && r.Term < shown[0].Term {
			continue
		}
		r.Followers = slices.Clone(r.Followers)
		for i := range r.Followers {
			f := &r.Followers[i]
			if holds(g, f.Node, r) && lostAt(g, r.Leader, r.From).IsZero() {
				f.Until = laterOf(f.Until, firstOf(lostAt(g, f.Node, f.From), end))
			}
		}
		reigns = append(reigns, lasting(g, ranOut(g, r), end))
	}
	return reigns
}

// ranOut ends a reign with its lease where another began before the process
// took note: one that is stopped believes in itself until it wakes. Who followed
// it shows that it had been renewed, which at log level info nothing else does.
func ranOut(g *rounds.Group, r rounds.Reign) rounds.Reign {
	if r.Lease.IsZero() {
		return r
	}
	until := r.Lease
	for _, f := range r.Followers {
		until = laterOf(until, f.Until)
	}
	for _, next := range g.Reigns {
		if next.Leader != r.Leader && next.Term > r.Term && until.Before(next.From) && next.From.Before(r.Until) {
			r.Until = until
		}
	}
	return r
}

// lasting draws a reign out to when it is known to have ended.
func lasting(g *rounds.Group, r rounds.Reign, end time.Time) reign {
	r.Until = laterOf(r.Until, r.From)
	believed := r.Until
	if r.Last.IsZero() {
		for _, f := range r.Followers {
			believed = laterOf(believed, f.Until)
		}
		lost := lostAt(g, r.Leader, r.From)
		if lost.IsZero() && holds(g, r.Leader, r) {
			believed = end
		}
		r.Until = laterOf(r.Until, firstOf(lost, believed))
		believed = laterOf(believed, r.Until)
	}
	return reign{r, believed}
}

// holds reports whether the reign is what the node last wrote of.
func holds(g *rounds.Group, node uint64, r rounds.Reign) bool {
	return slices.ContainsFunc(g.Nodes, func(n rounds.Node) bool {
		return n.ID == node && n.Leader == r.Leader && n.Term == r.Term
	})
}

// lostAt is the first evidence after an instant that a node is gone, zero for
// none.
func lostAt(g *rounds.Group, node uint64, after time.Time) (at time.Time) {
	note := func(t time.Time) {
		if t.After(after) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, r := range g.Rounds {
		if r.Cause.Lost == node {
			note(r.Cause.At)
		}
	}
	for _, n := range g.Nodes {
		for _, gone := range n.Gone {
			if gone.ID == node {
				note(gone.At)
			}
		}
	}
	return at
}

// endOf is a little after the last record: what holds then is seen to go on.
func endOf(g *rounds.Group) time.Time {
	var first, last time.Time
	for _, n := range g.Nodes {
		for _, l := range n.Lives {
			first, last = firstOf(first, l.From), laterOf(last, l.Until)
		}
	}
	return last.Add(last.Sub(first) / 30)
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// firstOf is the earlier of two times, of which the first may not be known.
func firstOf(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
