// Package quorum is the arithmetic of majorities: any two majorities of the
// same voters have a voter in common.
package quorum

import (
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// Voters are the configured voters of a cluster, the same on every node. Who votes is a matter of
// configuration, never of who is believed alive.
type Voters []proto.NodeID

// Has reports whether id is a voter. It is fastest when the voters are in the order of their ids.
func (v Voters) Has(id proto.NodeID) bool {
	_, ok := slices.BinarySearch(v, id)
	return ok || slices.Contains(v, id)
}

// Among returns the processes of the view that vote; it returns the view itself if all of them vote.
func (v Voters) Among(view []proto.Peer) []proto.Peer {
	next := 0
	isNone := func(p proto.Peer) bool {
		for next < len(v) && v[next] < p.ID { // both are mostly in the order of ids
			next++
		}
		return (next == len(v) || v[next] != p.ID) && !v.Has(p.ID)
	}
	if !slices.ContainsFunc(view, isNone) {
		return view
	}
	next = 0
	return slices.DeleteFunc(slices.Clone(view), isNone)
}

// Majority returns the number of voters that make a majority: more than half.
func (v Voters) Majority() int { return len(v)/2 + 1 }

// Meeting returns how many other voters a voter must hear, so that each majority in which the voter
// itself may have been had at least one of them.
func (v Voters) Meeting() int { return len(v) - v.Majority() + 1 }

// Count is the set of voters that said yes. The zero Count is empty.
type Count struct{ yes []proto.NodeID }

// Add counts a voter's yes. It counts each voter only once, however often the voter says yes.
func (c *Count) Add(id proto.NodeID) {
	if !slices.Contains(c.yes, id) {
		c.yes = append(c.yes, id)
	}
}

// Remove removes a voter's yes.
func (c *Count) Remove(id proto.NodeID) {
	c.yes = slices.DeleteFunc(c.yes, func(y proto.NodeID) bool { return y == id })
}

// Reset empties the set.
func (c *Count) Reset() { c.yes = c.yes[:0] }

// Has reports whether the voter said yes.
func (c *Count) Has(id proto.NodeID) bool { return slices.Contains(c.yes, id) }

// Len returns how many voters said yes.
func (c *Count) Len() int { return len(c.yes) }

// Of reports whether the set has a majority of v.
func (c *Count) Of(v Voters) bool {
	n := 0
	for _, id := range c.yes {
		if v.Has(id) {
			n++
		}
	}
	return n >= v.Majority()
}
