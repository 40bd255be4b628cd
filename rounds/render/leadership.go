package render

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership is a leadership as the timeline shows it. A belief lasts longer than the last
// record that has it. So Until is when the leader stepped down, or the first evidence
// against it, and believed is when the last node stopped believing in it. Both are the
// end of all records where nothing speaks against that.
type leadership struct {
	rounds.Leadership
	believed time.Time
}

// leadershipsOf are the leaderships of the terms shown, where their beginning is known.
func leadershipsOf(g *rounds.Group, shown []*rounds.Round) (leaderships []leadership) {
	end := endOf(g)
	for _, r := range g.Leaderships {
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
		leaderships = append(leaderships, lasting(g, ranOut(g, r), end))
	}
	return leaderships
}

// ranOut ends a leadership when its lease ends, if another leader began to lead before
// this one noticed the end: a process that is stopped believes that it leads until it
// wakes. The beliefs of followers show when the lease was renewed: at log level info,
// nothing else does.
func ranOut(g *rounds.Group, r rounds.Leadership) rounds.Leadership {
	if r.Lease.IsZero() {
		return r
	}
	until := r.Lease
	for _, f := range r.Followers {
		until = laterOf(until, f.Until)
	}
	for _, next := range g.Leaderships {
		if next.Leader != r.Leader && next.Term > r.Term && until.Before(next.From) && next.From.Before(r.Until) {
			r.Until = until
		}
	}
	return r
}

// lasting extends a leadership to the time at which it is known to have ended.
func lasting(g *rounds.Group, r rounds.Leadership, end time.Time) leadership {
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
	return leadership{r, believed}
}

// holds reports whether the node's last record names this leadership.
func holds(g *rounds.Group, node uint64, r rounds.Leadership) bool {
	return slices.ContainsFunc(g.Nodes, func(n rounds.Node) bool {
		return n.ID == node && n.Leader == r.Leader && n.Term == r.Term
	})
}

// lostAt is the time of the first evidence after an instant that a node is gone, zero for
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

// endOf is a little after the last record, so that what holds then is drawn beyond it.
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
