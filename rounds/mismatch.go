package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Mismatch says which nodes took no part with which others, by their own word, since their settings differ.
type Mismatch struct {
	At     time.Time `json:"at"`    // when the first of Nodes said so first, corrected
	Nodes  []uint64  `json:"nodes"` // who said so
	Others []uint64  `json:"others"`
	Link   bool      `json:"link"` // only the link was refused
	Why    string    `json:"why"`  // what the first of them said of the first of Others

	like string // the same for all who said it
}

// mostMismatches is how many different ones of a cluster are kept at most.
const mostMismatches = 256

// Mismatch takes the line in which a node says that it takes no part with another one: the first one that says so.
func (b *Builder) Mismatch(line trace.Mismatch) {
	_, before := b.clockSet(line.Cluster, line.Node)
	line.Time = line.Time.Add(-line.ClockSet - before)
	other, link, why := line.Other()
	said := func(was trace.Mismatch) bool {
		o, l, w := was.Other()
		return was.Node == line.Node && o == other && l == link && w == why
	}
	if all := b.mismatches[line.Cluster]; len(all) < mostMismatches && !slices.ContainsFunc(all, said) {
		b.mismatches[line.Cluster] = append(all, line)
	}
}

// findMismatches returns what nodes of the group said of others, in the order of time.
func (g *group) findMismatches(lines []trace.Mismatch) (all []Mismatch) {
	for _, line := range lines {
		other, link, why := line.Other()
		m, ofEra := g.nodes[line.Node], g.eras.at(g.key, line.Time) == g.key.era
		if m == nil || len(m.lives) == 0 || !ofEra || other == line.Node { // or it was its own former process
			continue
		}
		like := fmt.Sprint(line.Node, link, strings.NewReplacer(
			fmt.Sprintf("node %d ", other), "other ", fmt.Sprintf("node %d ", line.Node), "own ").Replace(why))
		i := slices.IndexFunc(all, func(m Mismatch) bool { return m.like == like })
		if i < 0 {
			at := g.fix.at(line.Node, line.Time)
			all = append(all, Mismatch{At: at, Nodes: []uint64{line.Node}, Link: link, Why: why, like: like})
			i = len(all) - 1
		}
		if !slices.Contains(all[i].Others, other) {
			all[i].Others = append(all[i].Others, other)
		}
	}
	slices.SortStableFunc(all, func(a, b Mismatch) int { return a.At.Compare(b.At) })
	return joined(all)
}

// joined puts those together that said the same of the same others.
func joined(all []Mismatch) (list []Mismatch) {
	for _, m := range all {
		m.like = strings.TrimPrefix(m.like, fmt.Sprint(m.Nodes[0]))
		slices.Sort(m.Others)
		i := slices.IndexFunc(list, func(was Mismatch) bool {
			return was.like == m.like && slices.Equal(was.Others, m.Others)
		})
		if i < 0 {
			list = append(list, m)
			continue
		}
		list[i].Nodes = append(list[i].Nodes, m.Nodes...)
		slices.Sort(list[i].Nodes)
	}
	return list
}
