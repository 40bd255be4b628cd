package render

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// ledBy returns the leaderships of the group as the timeline shows them. Each lasts until its End, or without an End
// to the time end, or until its leader leads again. A follower's belief that no record ends lasts until the follower
// was gone, or the lease ended. If rounds are shown, the first leadership is the one before theirs.
func ledBy(g *rounds.Group, shown []*rounds.Round, end time.Time) (list []rounds.Leadership) {
	for i, r := range g.Leaderships {
		if r.From.IsZero() {
			continue
		}
		if len(shown) > 0 && r.Term < shown[0].Term {
			list = nil
		}
		r.Until = g.LedUntil(i, end)
		believed := end
		if !r.Lease.IsZero() { // nobody believes longer than that
			believed = r.Until
		}
		r.Followers = slices.Clone(r.Followers)
		for i := range r.Followers {
			f := &r.Followers[i]
			if n := nodeOf(g, f.Node); n != nil && n.Leader == r.Leader && n.Term == r.Term {
				f.Until = laterOf(f.Until, firstOf(goneAt(n), believed))
			}
		}
		list = append(list, r)
	}
	return list
}

// holds reports whether a node that had the belief has it still, as far as the records tell: while the timeline shows
// that it follows, and while its process runs.
func (b belief) holds(g *rounds.Group, led []rounds.Leadership, id uint64, at time.Time) bool {
	within := func(from, until time.Time) bool { return !at.Before(from) && !at.After(until) }
	switch b.stand {
	case looking:
		n := nodeOf(g, id)
		ran := func(l rounds.Life) bool { return within(l.From, l.Until) }
		return n != nil && (n.Leader == 0 && goneAt(n).IsZero() || slices.ContainsFunc(n.Lives, ran))
	case leader, follower:
		return slices.ContainsFunc(led, func(r rounds.Leadership) bool {
			follows := func(f rounds.Follower) bool { return f.Node == id && within(f.From, f.Until) }
			return r.Leader == b.leader && r.Term == b.term &&
				(id == r.Leader && within(r.From, r.Until) || slices.ContainsFunc(r.Followers, follows))
		})
	}
	return true
}

// nodeOf returns the node with the id, or nil.
func nodeOf(g *rounds.Group, id uint64) *rounds.Node {
	i := slices.IndexFunc(g.Nodes, func(n rounds.Node) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Nodes[i]
}

// goneAt returns when the node ended or fell silent for good. It returns zero if it did not, as far as the
// records tell.
func goneAt(n *rounds.Node) (at time.Time) {
	for _, l := range n.Lives {
		for _, e := range l.Events {
			switch e.Kind {
			case rounds.Ended, rounds.Silent:
				at = firstOf(at, e.At)
			default:
				at = time.Time{}
			}
		}
	}
	return at
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// firstOf returns the earlier of a and b. If one of them is zero, which means unknown, it returns the other.
func firstOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
