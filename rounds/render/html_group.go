package render

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// pageGroup is one cluster in the page.
type pageGroup struct {
	Name      string
	Algorithm string
	Guarantee string
	Head      []string // who leads now, which nodes run, how long nobody led
	Nodes     int
	Rounds    []*pageRound
	Unknown   []string
	Left      int // rounds that are too many for the page
	Data      *groupData
}

// pageRound is one round in the page. It is drawn when the page is written: all drawings together take more memory than
// the rounds.
type pageRound struct {
	ID       string
	Term     uint64
	Title    string
	Brief    string // one line about the round, for the list of rounds
	Took     string
	Nobody   string // how long nobody led
	Facts    []fact
	Findings []pageFinding
	Unknown  []string

	layout *layout
	data   []byte // JSON, nil until it is drawn
}

type pageFinding struct {
	Name, Text string
	Records    []string
}

// groupData is the data of a cluster for the script; its rounds have their own. Ids and terms are strings, because the
// script's numbers would round large ones.
type groupData struct {
	Ring     bool
	Nodes    []string
	Hues     []int
	Timeline *timeline
}

func layGroup(index int, g *rounds.Group) *pageGroup {
	shown := g.Rounds[max(0, len(g.Rounds)-MaxPictured):]
	page := &pageGroup{
		Name: clean(g.Cluster), Algorithm: clean(g.Algorithm), Guarantee: clean(g.Guarantee),
		Nodes: len(g.Nodes), Head: cleanAll(report.Head(g)), Unknown: cleanAll(g.Unknown),
		Left: g.Left + len(g.Rounds) - len(shown),
	}
	if g.Run > 0 {
		page.Name = fmt.Sprintf("simulated run %d", g.Run)
	}
	if g.Era > 0 {
		page.Name += fmt.Sprintf(", era %d", g.Era)
	}
	all := everyone(g)
	lanes := foldLanes(g.Rounds, all)
	page.Data = &groupData{Ring: isRing(g.Algorithm), Timeline: newTimeline(g, shown, lanes)}
	hue := hueIn(lanes)
	for _, id := range lanes {
		page.Data.Nodes = append(page.Data.Nodes, laneName(id, len(all)-len(lanes)+1))
		page.Data.Hues = append(page.Data.Hues, hue(id))
	}
	_, last := g.Limits()
	led := ledBy(g, nil, last)
	known := map[uint64]belief{}
	for i, r := range g.Rounds {
		s := newLayout(r, lanes, func(id uint64, at time.Time) belief {
			if b := known[id]; b.holds(g, led, id, at) {
				return b
			}
			return belief{}
		})
		s.refs = g.Names
		if i >= len(g.Rounds)-len(shown) {
			page.Rounds = append(page.Rounds, newPageRound(fmt.Sprintf("g%d-t%d", index, r.Term), s))
		}
		now := slices.Clone(s.before)
		for step := range r.Steps {
			s.apply(step, now)
		}
		for lane, id := range lanes {
			known[id] = now[lane]
		}
	}
	return page
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

// Drawing returns the diagram of the round. The template calls it, before it calls Data.
func (p *pageRound) Drawing() (template.HTML, error) {
	var svg strings.Builder
	d := newDrawing(&svg, p.layout, nil)
	d.open()
	d.sequence()
	d.put("</svg>")
	if err := d.out.Flush(); err != nil {
		return "", err
	}
	var err error
	if p.data, err = json.Marshal(newRoundData(p.ID, d)); err != nil {
		return "", fmt.Errorf("write the data of round %s: %w", p.ID, err)
	}
	p.layout = nil                          // its memory can be freed
	return template.HTML(svg.String()), nil // drawing escapes every text
}

// Data returns the data of the round for the script. Marshal escapes what could end a script.
func (p *pageRound) Data() template.JS { return template.JS(p.data) }

// newPageRound returns a round's part of the page.
func newPageRound(id string, s *layout) *pageRound {
	r := s.round
	page := &pageRound{
		ID: id, Term: r.Term, Title: title(r), Brief: brief(r), Facts: facts(r),
		Unknown: cleanAll(r.Unknown), layout: s,
	}
	if r.Split.ElectKnown {
		page.Took = span(r.Split.Elect + r.Split.Announce)
	}
	if nobody := report.Leaderless(r); nobody != "-" && nobody != "?" {
		page.Nobody = nobody
	}
	for _, f := range r.Findings {
		finding := pageFinding{Name: clean(string(f.Name)), Text: sentence(f.Text)}
		for _, ref := range f.Records {
			finding.Records = append(finding.Records, s.refs.Of(ref))
		}
		page.Findings = append(page.Findings, finding)
	}
	return page
}

// brief returns the line about a round in the list of rounds.
func brief(r *rounds.Round) string {
	who := "nobody leads"
	if r.Winner != nil {
		who = strings.TrimPrefix(r.Lead(), "node ")
	}
	if why := because(r); why != "" {
		return who + ": " + why
	}
	return who
}
