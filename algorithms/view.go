package algorithms

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// Lists reports whether the very process is in a view. Views come in the order of
// ids, mostly: one that does not is searched from end to end.
func Lists(view []proto.Peer, p proto.Peer) bool {
	at, ok := slices.BinarySearchFunc(view, p.ID, func(q proto.Peer, id proto.NodeID) int {
		return cmp.Compare(q.ID, id)
	})
	return ok && view[at].Is(p) || slices.ContainsFunc(view, p.Is)
}

// Successor is to whom of the others that are alive, and may lead at all, a leader may
// hand over: to the one that it was asked to, or to the best of them if it was left the
// choice; or why not.
func Successor(others iter.Seq[proto.Peer], to proto.NodeID) (heir proto.Peer, why string) {
	for p := range others {
		switch {
		case p.ID == to && p.Ineligible:
			return heir, "it is not eligible"
		case p.ID == to:
			return p, ""
		case to == 0 && !p.Ineligible && (heir.ID == 0 || p.Rank().Compare(heir.Rank()) > 0):
			heir = p
		}
	}
	switch {
	case to != 0:
		return heir, "it is not alive, as far as the leader knows"
	case heir.ID == 0:
		return heir, "no other that could lead is alive and eligible"
	}
	return heir, ""
}
