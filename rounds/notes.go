package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// notes returns sentences about what is odd about the records as a whole.
func notes(groups []*Group) []string {
	notes := []string{}
	ofLabel := map[string][]*Group{}
	var clusters, runs []string
	for _, g := range groups {
		notes = append(notes, labelNotes(g)...)
		notes = append(notes, exposedNotes(g)...)
		if g.Run > 0 {
			runs = append(runs, fmt.Sprint(g.Run))
		}
		if g.Run > 0 || !g.Replaced.IsZero() {
			continue
		}
		if len(ofLabel[g.Cluster]) == 0 {
			clusters = append(clusters, g.Cluster)
		}
		ofLabel[g.Cluster] = append(ofLabel[g.Cluster], g)
	}
	switch {
	case len(clusters) < 2:
	case slices.Contains(clusters, ""):
		notes = append(notes, fmt.Sprintf("The records have %d labels, which are told one by one: %q. Those without "+
			"one, as all that are text for people, may be of one of the other clusters.", len(clusters), clusters))
	default:
		notes = append(notes, fmt.Sprintf("The records are of %d clusters, which are told one by one: %q.",
			len(clusters), clusters))
	}
	notes = append(notes, elsewhereNotes(groups)...)
	if len(runs) > 1 {
		notes = append(notes, fmt.Sprintf("The records are of %d simulated runs, which are told one by one.",
			len(runs)))
	}
	for _, label := range clusters {
		if of := ofLabel[label]; len(of) > 1 {
			notes = append(notes, algorithmsNote(label, of))
		}
	}
	return notes
}

// elsewhereNotes says which nodes that others of their cluster name have a log only with the label of another one.
func elsewhereNotes(groups []*Group) (notes []string) {
	for _, g := range groups {
		for _, other := range groups {
			var ids []uint64
			for _, n := range g.Nodes {
				if n.Records == 0 && other.Cluster != g.Cluster && slices.Contains(writers(other), n.ID) {
					ids = append(ids, n.ID)
				}
			}
			if len(ids) > 0 {
				notes = append(notes, fmt.Sprintf("Of %s, which nodes of cluster %q name, no log with that label is "+
					"here, and one with the label %q is.", words.Nodes(ids), g.Cluster, other.Cluster))
			}
		}
	}
	return notes
}

// algorithmsNote says that the cluster ran several algorithms, at once or one after the other.
func algorithmsNote(label string, of []*Group) string {
	of = slices.SortedStableFunc(slices.Values(of), func(a, b *Group) int { return a.From.Compare(b.From) })
	var run []string
	after := true
	for i, g := range of {
		run = append(run, fmt.Sprintf("%s on %s", g.Algorithm, words.Nodes(writers(g))))
		after = after && (i == 0 || g.succeeds(of[i-1]))
	}
	if after {
		return fmt.Sprintf("The nodes of cluster %q changed their algorithm: %s, each told by itself.", label,
			strings.Join(run, ", then "))
	}
	switch all := strings.Join(run, ", "); {
	case !slices.ContainsFunc(of, func(g *Group) bool { return !g.nominates() }):
		return fmt.Sprintf("The nodes of cluster %q ran different algorithms at once, under one lease: %s, each told "+
			"by itself.", label, all)
	case runNow(of) < 2:
		return fmt.Sprintf("The nodes of cluster %q ran different algorithms at once, and could not elect a leader "+
			"together then: %s.", label, all)
	default:
		return fmt.Sprintf("The nodes of cluster %q run different algorithms, and cannot elect a leader together: %s.",
			label, all)
	}
}

// nominates reports whether the algorithm of the group nominates who is elected under a lease. Nodes that do so by
// different algorithms elect together.
func (out *Group) nominates() bool {
	alone, err := catalog.Lookup(out.Algorithm)
	return err == nil && alone.Guarantee == algorithms.BestEffort && leased(out.Guarantee)
}

// runNow counts the groups in which the last process of a node is.
func runNow(of []*Group) (groups int) {
	last := map[uint64]*Group{}
	until := map[uint64]time.Time{}
	for _, g := range of {
		for _, n := range g.Nodes {
			if n.Records == 0 {
				continue
			}
			if at := n.Lives[len(n.Lives)-1].Until; last[n.ID] == nil || at.After(until[n.ID]) {
				last[n.ID], until[n.ID] = g, at
			}
		}
	}
	now := map[*Group]bool{}
	for _, g := range last {
		now[g] = true
	}
	return len(now)
}

// succeeds reports whether each node that wrote records of the group before wrote records of this one when it had
// written all of those.
func (out *Group) succeeds(before *Group) bool {
	began := map[uint64]time.Time{}
	for _, n := range out.Nodes {
		if n.Records > 0 {
			began[n.ID] = n.Lives[0].From
		}
	}
	return !slices.ContainsFunc(before.Nodes, func(n Node) bool {
		return n.Records > 0 && !n.Lives[len(n.Lives)-1].Until.Before(began[n.ID])
	})
}

// exposedNotes says which nodes believed whoever could send packets to them.
func exposedNotes(g *Group) (notes []string) {
	var ids []uint64
	for _, n := range g.Nodes {
		if n.Unauthenticated {
			ids = append(ids, n.ID)
		}
	}
	if len(ids) > 0 {
		notes = append(notes, fmt.Sprintf("Unauthenticated: %s of cluster %q ran without credentials, and believed "+
			"whoever could send packets there.", words.Nodes(ids), g.Cluster))
	}
	return notes
}

// labelNotes says that the label of the group stood for several clusters, at once or one after the other.
func labelNotes(g *Group) (notes []string) {
	if len(g.Mixed) > 0 {
		notes = append(notes, fmt.Sprintf("Two clusters ran under the label %q at once: %s were two processes each "+
			"at the same time, as the findings prove. What is told of them is mixed up: give each cluster its own "+
			"label, or the logs of only one.", g.Cluster, words.Nodes(g.Mixed)))
	}
	if len(g.parts) > 1 {
		var parts []string
		for _, ids := range g.parts {
			parts = append(parts, words.Nodes(ids))
		}
		notes = append(notes, fmt.Sprintf("No record of cluster %q shows that %s ever heard of each other, and they "+
			"led the same terms: they are several clusters under one label, or one whose nodes never met.",
			g.Cluster, strings.Join(parts, " and ")))
	}
	if !g.Replaced.IsZero() {
		notes = append(notes, fmt.Sprintf("Cluster %q was made anew at %s: all processes before had ended, those "+
			"after began with nothing saved, and terms that had been led were led again. What was before and what "+
			"came after are told as its eras %d and %d.",
			g.Cluster, g.Replaced.UTC().Format("2006-01-02 15:04:05.000"), g.Era, g.Era+1))
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
