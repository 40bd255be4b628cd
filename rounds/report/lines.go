package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// row is the format of a line in the list of rounds.
const row = "%6s  %-12s  %6s  %-8s %5s  %8s  %8s  %8s  %s"

// Header writes the name of a cluster and the titles of the columns.
func Header(w io.Writer, cluster, algorithm, guarantee string, run int) error {
	var p page
	p.line("%s (%s)", words.Upper(clusterName(cluster, algorithm, run)), guarantee)
	p.line(row, "TERM", "AT", "LEADER", "FOLLOW", "SENT", "DETECT", "ELECT", "ANNOUNCE", "BECAUSE")
	return p.to(w)
}

// Line writes a round in one line, and below it its findings.
func Line(w io.Writer, r *rounds.Round) error {
	var p page
	p.Grow(2 * width)
	leader, follow := "nobody", "-"
	if r.Winner != nil {
		leader = strconv.FormatUint(r.Winner.Node, 10)
		followers := len(in(r, rounds.PartFollower))
		expected := followers + len(in(r, rounds.PartBehind, rounds.PartSilent))
		follow = strconv.Itoa(followers) + " of " + strconv.Itoa(expected)
	}
	p.line(row, strconv.FormatUint(r.Term, 10), clock(began(r)), leader, follow, strconv.Itoa(sent(r)),
		detect(r.Split), known(r.Split.Elect, r.Split.ElectKnown),
		known(r.Split.Announce, r.Split.AnnounceKnown), because(r))
	for _, f := range r.Findings {
		p.line("        ! %s: %s [%s]", f.Name, f.Text, refs(f.Records))
	}
	return p.to(w)
}

// Finding writes one finding.
func Finding(w io.Writer, f rounds.Finding) error {
	var p page
	p.line("        ! %s: %s [%s]", f.Name, f.Text, refs(f.Records))
	return p.to(w)
}

// Remarks writes what the records of a group do not tell, and whose clocks differ.
func Remarks(w io.Writer, g *rounds.Group) error {
	var p page
	var remarks []string
	for _, c := range g.Clocks {
		if c.Differs() {
			remarks = append(remarks, clockRemark(c))
		}
	}
	for _, text := range append(remarks, g.Unknown...) {
		p.line("%s: %s", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run)), text)
	}
	return p.to(w)
}

func clockRemark(c rounds.Clock) string {
	way := "ahead of"
	off := c.Offset
	if off < 0 {
		way, off = "behind", -off
	}
	text := fmt.Sprintf("The wall clock of node %d is %s %s the others', judged by its messages",
		c.Node, rounds.Span(off), way)
	if c.Error > 0 {
		text += fmt.Sprintf(", give or take %s", rounds.Span(c.Error))
	}
	return text + "; its times are corrected by that."
}

// Loose returns the findings of a group that are about none of its rounds.
func Loose(g *rounds.Group) (loose []rounds.Finding) {
	for _, f := range g.Findings {
		if !slices.ContainsFunc(g.Rounds, func(r *rounds.Round) bool { return r.Term == f.Term }) {
			loose = append(loose, f)
		}
	}
	return loose
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
	p.line("%s:", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run)))
	return p.to(w)
}
