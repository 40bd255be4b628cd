package testcluster

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// IDs returns the ids of the nodes, running or not.
func (c *Cluster) IDs() []proto.NodeID {
	ids := make([]proto.NodeID, 0, len(c.nodes))
	for _, n := range c.nodes {
		ids = append(ids, n.ID)
	}
	return ids
}

// Without returns those of the ids that are not in the list gone.
func Without(ids []proto.NodeID, gone ...proto.NodeID) []proto.NodeID {
	return slices.DeleteFunc(slices.Clone(ids), func(id proto.NodeID) bool { return slices.Contains(gone, id) })
}

// Earlier returns the earlier of two instants.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
