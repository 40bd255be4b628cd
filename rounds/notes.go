package rounds

import (
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// notes returns sentences about what is odd about the records as a whole.
func notes(groups []*Group) []string {
	notes := []string{}
	algorithms := map[string][]*Group{}
	var clusters, runs []string
	for _, g := range groups {
		if g.Run > 0 {
			runs = append(runs, fmt.Sprint(g.Run))
			continue
		}
		if len(algorithms[g.Cluster]) == 0 {
			clusters = append(clusters, g.Cluster)
		}
		algorithms[g.Cluster] = append(algorithms[g.Cluster], g)
	}
	if len(clusters) > 1 {
		notes = append(notes, fmt.Sprintf("The records are of %d clusters, which are told one by one: %q.",
			len(clusters), clusters))
	}
	if len(runs) > 1 {
		notes = append(notes, fmt.Sprintf("The records are of %d simulated runs, which are told one by one.",
			len(runs)))
	}
	for _, label := range clusters {
		of := algorithms[label]
		if len(of) < 2 {
			continue
		}
		var run []string
		for _, g := range of {
			run = append(run, fmt.Sprintf("%s on %s", g.Algorithm, words.Nodes(writers(g))))
		}
		notes = append(notes, fmt.Sprintf("The nodes of cluster %q run different algorithms, and cannot elect a "+
			"leader together: %s.", label, strings.Join(run, ", ")))
	}
	return notes
}

// writers returns the nodes of the group with records of their own.
func writers(g *Group) (ids []uint64) {
	for _, n := range g.Nodes {
		if n.Records > 0 {
			ids = append(ids, n.ID)
		}
	}
	return ids
}
