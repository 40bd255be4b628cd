package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// nextCommand returns the line that names the commands which tell more: if nobody leads and not all nodes ended, or if
// there is no sign of life of a node. It returns "" else. What they print holds whatever the logs lack.
func nextCommand(g *rounds.Group) string {
	if len(g.Mixed) > 0 || g.Run > 0 || !g.Replaced.IsZero() {
		return ""
	}
	var up, quiet []uint64
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch kind := lastEvent(n).Kind; {
		case n.Records == 0 || kind == rounds.Ended:
		case kind == rounds.Silent || kind == rounds.Paused || len(g.Leaderships) > 0 && unheardOf(g, n):
			quiet = append(quiet, n.ID)
		default:
			up = append(up, n.ID)
		}
	}
	in := vacancy(g)
	switch {
	case len(up)+len(quiet) == 0:
		return ""
	case in == nil && len(g.Leaderships) > 0 && len(quiet) == 0:
		return ""
	case in == nil && len(g.Leaderships) > 0:
		likewise := ""
		if len(quiet) > 1 {
			likewise = ", likewise of " + shortIDs(quiet[1:])
		}
		return fmt.Sprintf("Next: ringleader why-not %d LOG… (what is known of node %d%s).",
			quiet[0], quiet[0], likewise)
	}
	last := lastCalled(g, in)
	id := whoMayLead(last, slices.Concat(up, quiet), in)
	if id == 0 {
		return ""
	}
	text := whyNotLeads(id)
	if last != nil {
		text = words.And(text, explains(last.Term))
	}
	return "Next: " + text + "."
}

func whyNotLeads(id uint64) string {
	return fmt.Sprintf("ringleader why-not %d LOG… (why node %d does not lead)", id, id)
}

func explains(term uint64) string {
	return fmt.Sprintf("ringleader explain %d LOG… (how term %d went)", term, term)
}

// NextChange writes the command that tells more of the change to the leader of a term.
func NextChange(w io.Writer, term uint64) error {
	var p page
	p.line("        Next: %s.", explains(term))
	return p.to(w)
}

// NextVacant writes the command that tells more of why nobody leads, if a node is there that may.
func NextVacant(w io.Writer, v rounds.Vacancy) error {
	var p page
	if id := whoMayLead(nil, v.Up, &v.Incident); id != 0 {
		p.line("        Next: %s.", whyNotLeads(id))
	}
	return p.to(w)
}

// lastCalled returns the last round since nobody leads, nil if nobody called one.
func lastCalled(g *rounds.Group, in *rounds.Incident) *rounds.Round {
	if in != nil && len(in.Terms) == 0 {
		return nil
	}
	for _, r := range slices.Backward(g.Rounds) {
		if in == nil || r.Term == in.MainTerm() {
			return r
		}
	}
	return nil
}

// whoMayLead returns one of the nodes, which is not known to lead: the one that asked the voters last, or else a voter
// that it asked, or else the first. It returns 0 if there is none.
func whoMayLead(last *rounds.Round, nodes []uint64, in *rounds.Incident) uint64 {
	var asked []uint64
	if last != nil && last.Ballot != nil {
		asked = append(asked, last.Ballot.Candidate)
		asked = append(asked, last.Ballot.Voters...)
	}
	for _, id := range append(asked, nodes...) {
		if slices.Contains(nodes, id) && (in == nil || !in.Unsure() || id != in.Former) {
			return id
		}
	}
	return 0
}
