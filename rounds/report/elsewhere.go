package report

import (
	"fmt"
	"io"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Elsewhere writes, for each group that has no records of the node, which other cluster or
// algorithm the node belongs to. Simulated runs do not count.
func Elsewhere(w io.Writer, groups []*rounds.Group, id uint64) error {
	var p page
	for _, g := range groups {
		if n := find(g, id); g.Run > 0 || n != nil && n.Records > 0 {
			continue
		}
		for _, own := range groups {
			n := find(own, id)
			switch {
			case n == nil || n.Records == 0:
			case own.Cluster == g.Cluster:
				p.paragraph(fmt.Sprintf("Node %d runs %s, and %s %s: they do not understand each other.",
					id, own.Algorithm, others(g, id), g.Algorithm))
			case find(g, id) == nil:
				p.paragraph(fmt.Sprintf("In %s, nobody ever heard of node %d: it has the label %q.",
					clusterName(g.Cluster, g.Algorithm, g.Run, g.Era), id, own.Cluster))
			}
		}
	}
	if p.Len() > 0 {
		fmt.Fprintln(w)
	}
	return p.to(w)
}

// others names all nodes of the group with records of their own, except the node id, and adds the
// verb: "nodes 1 and 2 run".
func others(g *rounds.Group, id uint64) string {
	var list []uint64
	for _, n := range g.Nodes {
		if n.Records > 0 && n.ID != id {
			list = append(list, n.ID)
		}
	}
	if len(list) == 1 {
		return words.Nodes(list) + " runs"
	}
	return words.Nodes(list) + " run"
}
