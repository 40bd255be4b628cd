package algorithms

import (
	"cmp"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// Lists reports whether the view contains this very process. A view is usually sorted by id; an unsorted
// view is searched from end to end.
func Lists(view []proto.Peer, p proto.Peer) bool {
	at, ok := slices.BinarySearchFunc(view, p.ID, func(q proto.Peer, id proto.NodeID) int {
		return cmp.Compare(q.ID, id)
	})
	return ok && view[at].Is(p) || slices.ContainsFunc(view, p.Is)
}
