package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Finding writes one finding.
func Finding(w io.Writer, names *rounds.Names, f rounds.Finding) error {
	p := page{names: names}
	p.findings([]rounds.Finding{f})
	return p.to(w)
}

// Remarks writes what the records of a group do not tell, and whose clocks differ, or were set.
func Remarks(w io.Writer, g *rounds.Group) error {
	var p page
	var remarks []string
	for _, c := range g.Clocks {
		if c.Differs() {
			remarks = append(remarks, clockRemark(g, c))
		}
	}
	if set := nodesWithSetClocks(g); len(set) > 0 {
		remarks = append(remarks, fmt.Sprintf("Somebody set the %s of %s; times since are told as if nobody had.",
			words.Either(len(set), "clock", "clocks"), words.Nodes(set)))
	}
	for _, text := range append(remarks, g.Unknown...) {
		p.line("%s: %s", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)), text)
	}
	return p.to(w)
}

// nodesWithSetClocks returns the nodes whose clocks somebody set while they ran.
func nodesWithSetClocks(g *rounds.Group) (set []uint64) {
	for _, n := range g.Nodes {
		if slices.ContainsFunc(n.Lives, func(l rounds.Life) bool { return len(l.ClockSets) > 0 }) {
			set = append(set, n.ID)
		}
	}
	return set
}

// clockRemark says which clock a clock is ahead of or behind: the one that is taken for right, or those that agree.
func clockRemark(g *rounds.Group, c rounds.Clock) string {
	var right []uint64
	for _, n := range g.Nodes {
		off := slices.ContainsFunc(g.Clocks, func(c rounds.Clock) bool { return c.Node == n.ID })
		if n.Records > 0 && !off {
			right = append(right, n.ID)
		}
	}
	than := fmt.Sprintf("%s of %s, by which all times here are told", words.Either(len(right), "that", "those"),
		words.Nodes(right))
	way := "ahead of"
	off := c.Offset
	if off < 0 {
		way, off = "behind", -off
	}
	by := fmt.Sprintf("%s %s %s, judged by its messages", rounds.Span(off), way, than)
	if c.Error > 0 {
		by += fmt.Sprintf(", give or take %s", rounds.Span(c.Error))
	} else {
		by = fmt.Sprintf("at least %s in one direction", by)
	}
	is := "is"
	if slices.Contains(nodesWithSetClocks(g), c.Node) {
		is = "was, until somebody set it,"
	}
	return fmt.Sprintf("The wall clock of node %d %s %s; its times are corrected by that.", c.Node, is, by)
}

// ClockRemark writes which clock a clock is ahead of or behind, by which the times of the group are told.
func ClockRemark(w io.Writer, g *rounds.Group, c rounds.Clock) error {
	var p page
	p.line("        * %s", clockRemark(g, c))
	return p.to(w)
}

// Notes writes what is odd about the records as a whole.
func Notes(w io.Writer, h *rounds.History) error {
	var p page
	for _, note := range h.Notes {
		p.line("%s", note)
	}
	return p.to(w)
}

// GroupName writes the name of a group, as a title.
func GroupName(w io.Writer, g *rounds.Group) error {
	var p page
	p.line("%s:", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)))
	return p.to(w)
}
