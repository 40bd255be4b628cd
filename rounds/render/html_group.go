package render

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// pageGroup is one cluster in the page.
type pageGroup struct {
	Name      string
	Algorithm string
	Guarantee string
	Nodes     int
	Rounds    []*pageRound
	Unknown   []string
	Left      int // rounds that are too many for the page
}

// pageRound is one round in the page, with its drawing.
type pageRound struct {
	ID       string
	Term     uint64
	Title    string
	Brief    string // one line about the round, for the list of rounds
	Took     string
	Facts    []fact
	Findings []pageFinding
	Unknown  []string
	Drawing  template.HTML
}

type pageFinding struct {
	Name, Text string
	Records    []string
}

// groupData is the data of a cluster for the script. Ids and terms are strings, because the script's
// numbers would round large ones.
type groupData struct {
	Ring     bool         `json:"ring"`
	Nodes    []string     `json:"nodes"`
	Hues     []int        `json:"hues"`
	Rounds   []*roundData `json:"rounds"`
	Timeline *timeline    `json:"timeline"`
}

func drawGroup(index int, g *rounds.Group) (*pageGroup, *groupData, error) {
	shown := g.Rounds[max(0, len(g.Rounds)-MaxPictured):]
	page := &pageGroup{
		Name: clean(g.Cluster), Algorithm: clean(g.Algorithm), Guarantee: clean(g.Guarantee),
		Nodes: len(g.Nodes), Unknown: cleanAll(g.Unknown), Left: g.Left + len(g.Rounds) - len(shown),
	}
	if g.Run > 0 {
		page.Name = fmt.Sprintf("simulated run %d", g.Run)
	}
	if g.Era > 0 {
		page.Name += fmt.Sprintf(", era %d", g.Era)
	}
	all := everyone(g)
	lanes := foldLanes(g.Rounds, all)
	data := &groupData{Ring: isRing(g.Algorithm), Timeline: newTimeline(g, shown, lanes)}
	hue := hueIn(lanes)
	for _, id := range lanes {
		data.Nodes = append(data.Nodes, laneName(id, len(all)-len(lanes)+1))
		data.Hues = append(data.Hues, hue(id))
	}
	known := map[uint64]belief{}
	for i, r := range g.Rounds {
		s := newLayout(r, lanes, known)
		s.refs = g.Names
		if i >= len(g.Rounds)-len(shown) {
			drawn, d, err := drawRound(fmt.Sprintf("g%d-t%d", index, r.Term), s)
			if err != nil {
				return nil, nil, err
			}
			page.Rounds, data.Rounds = append(page.Rounds, drawn), append(data.Rounds, d)
		}
		now := slices.Clone(s.before)
		for step := range r.Steps {
			s.apply(step, now)
		}
		for lane, id := range lanes {
			known[id] = now[lane]
		}
	}
	return page, data, nil
}

// everyone returns the ids of all nodes that appear in a round of the group, in their order on the
// page.
func everyone(g *rounds.Group) []uint64 {
	ids := map[uint64]bool{}
	for _, n := range g.Nodes {
		ids[n.ID] = true
	}
	for _, r := range g.Rounds {
		for _, id := range involved(r) {
			ids[id] = true
		}
	}
	return inPlace(g.Algorithm, g.Rounds, sorted(ids))
}

// drawRound returns a round's part of the page, and the round's data for the script.
func drawRound(id string, s *layout) (*pageRound, *roundData, error) {
	r := s.round
	var svg strings.Builder
	d := newDrawing(&svg, s, nil)
	d.open()
	d.sequence()
	d.put("</svg>")
	if err := d.out.Flush(); err != nil {
		return nil, nil, err
	}
	page := &pageRound{
		ID: id, Term: r.Term, Title: title(r), Brief: brief(r), Facts: facts(r),
		Unknown: cleanAll(r.Unknown),
		Drawing: template.HTML(svg.String()), // drawing escapes every text
	}
	if r.Split.ElectKnown {
		page.Took = span(r.Split.Elect + r.Split.Announce)
	}
	for _, f := range r.Findings {
		finding := pageFinding{Name: clean(string(f.Name)), Text: clean(f.Text)}
		for _, ref := range f.Records {
			finding.Records = append(finding.Records, s.refs.Of(ref))
		}
		page.Findings = append(page.Findings, finding)
	}
	return page, newRoundData(id, d), nil
}

// brief returns the line about a round in the list of rounds.
func brief(r *rounds.Round) string {
	who := "nobody leads"
	if r.Winner != nil {
		who = fmt.Sprintf("%d leads", r.Winner.Node)
	}
	if r.Cause.Text == "" {
		return who
	}
	return who + ": " + clean(r.Cause.Text)
}
