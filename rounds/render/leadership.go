package render

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership is a leadership as the timeline shows it. If the leader's records show its end, Until
// and believed are that end. Otherwise Until is the time of the first evidence that the leader is
// gone, and believed is the time when the last node stopped believing in it. Without evidence both
// are the end of that belief. A belief that no record ends lasts until a little after the last record.
type leadership struct {
	rounds.Leadership
	believed time.Time
}

// leadershipsOf returns the leaderships of the group whose beginning is known, from the term of the
// first round in shown on.
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

// ranOut ends leadership r when its lease ends, if another leader began to lead before the
// leader of r noticed that end: a process that is stopped believes that it leads until it
// wakes. The beliefs of the followers show that the lease was renewed; at log level info no
// record shows it.
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

// lasting extends leadership r to the time when it ended, as far as the records tell; at most to end.
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

// holds reports whether the last known belief of the node is that the leader of r leads its term.
func holds(g *rounds.Group, node uint64, r rounds.Leadership) bool {
	return slices.ContainsFunc(g.Nodes, func(n rounds.Node) bool {
		return n.ID == node && n.Leader == r.Leader && n.Term == r.Term
	})
}

// lostAt returns the time of the first evidence, later than the time after, that the node is gone. It
// returns zero if there is none.
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

// endOf returns a time a little after the last record. The last beliefs are drawn until that time.
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

// firstOf returns the earlier of a and b. If a is zero, which means unknown, it returns b.
func firstOf(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
