package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// timeline says who led when, and what happened to the processes, over all rounds. Its times are
// milliseconds since Start.
type timeline struct {
	Rows   []string        `json:"rows"`  // the nodes, by id
	Bars   []timelineBar   `json:"bars"`  // in the rows
	State  []timelineBar   `json:"state"` // the group as a whole
	Events []timelineEvent `json:"events"`
	Start  float64         `json:"start"` // milliseconds since 1970
	Length float64         `json:"length"`
	From   string          `json:"from"`
	Took   string          `json:"took"`

	start time.Time
	days  bool // it goes over midnight
}

// timelineBar is a period in which something holds, such as that a node leads.
type timelineBar struct {
	Row    int     `json:"row"`
	Kind   string  `json:"kind"`
	Leader string  `json:"leader,omitempty"`
	Hue    int     `json:"hue"`
	Term   string  `json:"term,omitempty"`
	From   float64 `json:"from"`
	Until  float64 `json:"until"`
	Text   string  `json:"text"`
}

// The kinds of bars.
const (
	barLeads    = "leads"
	barFollows  = "follows"
	barNobody   = "nobody"
	barUnknown  = "unknown"   // the records do not tell who led, or whether the node still did
	barHandOver = "hand-over" // two nodes lead, until the earlier leader hears of the later one
	barOverlap  = "overlap"   // two nodes lead, and a finding says so
)

// timelineEvent is an event of a process, as a mark in the row of its node.
type timelineEvent struct {
	Row   int     `json:"row"`
	Kind  string  `json:"kind"`
	Known string  `json:"known"`
	At    float64 `json:"at"`
	Text  string  `json:"text"`
}

// timelineRows is the largest number of nodes for which the timeline has a row for each node. With
// more nodes, only nodes that led, or stopped for a while, have a row.
const timelineRows = 24

// newTimeline returns the timeline of a group, or nil if the records tell no time.
func newTimeline(g *rounds.Group, shown []*rounds.Round, lanes []uint64) *timeline {
	first, last := g.Limits()
	leaderships := ledBy(g, shown, last)
	if n := len(leaderships); n > 0 && (n < len(g.Leaderships) || g.Left > 0) {
		first = leaderships[0].From
	}
	if !last.After(first) {
		return nil
	}
	t := &timeline{
		start: first, Start: float64(first.UnixMicro()) / 1000,
		days: first.UTC().Format(time.DateOnly) != last.UTC().Format(time.DateOnly),
		From: first.UTC().Format("2006-01-02 15:04:05.000 UTC"), Took: span(last.Sub(first)),
		Bars: []timelineBar{}, State: []timelineBar{}, Rows: []string{}, Events: []timelineEvent{},
	}
	t.Length = t.at(last)
	ids, row := timelineNodes(g, leaderships)
	for _, id := range ids {
		t.Rows = append(t.Rows, strconv.FormatUint(id, 10))
	}
	hue := hueIn(lanes)
	periods := g.Periods(first, last)
	for _, r := range leaderships {
		t.leadership(r, periods, row, hue)
	}
	t.state(periods, hue)
	t.lives(g, row)
	return t
}

// at returns the place of a time, to a microsecond.
func (t *timeline) at(when time.Time) float64 {
	return math.Round(float64(when.Sub(t.start))/float64(time.Microsecond)) / 1000
}

// clock formats a time of day, with the date where the timeline goes over midnight.
func (t *timeline) clock(when time.Time) string {
	if t.days {
		return when.UTC().Format("2006-01-02 15:04:05.000")
	}
	return when.UTC().Format("15:04:05.000")
}

// lives adds a mark for each event of a process.
func (t *timeline) lives(g *rounds.Group, row map[uint64]int) {
	for _, n := range g.Nodes {
		at, ok := row[n.ID]
		if !ok {
			continue
		}
		for _, l := range n.Lives {
			for _, e := range l.Events {
				if e.At.Before(t.start) {
					continue
				}
				t.Events = append(t.Events, timelineEvent{
					Row: at, Kind: clean(string(e.Kind)), Known: clean(string(e.Known)), At: t.at(e.At),
					Text: fmt.Sprintf("node %d %s %s (%s)", n.ID, happened(e), t.when(e), g.Names.Of(e.Ref)),
				})
			}
		}
	}
}

// when says in words when an event was. The end of a process is inferred from the next process of its node: it
// was before that. Peers notice late that it is silent, and that it goes on.
func (t *timeline) when(e rounds.LifeEvent) string {
	late := e.Kind == rounds.Silent || e.Kind == rounds.Resumed && e.Known == rounds.PeersSaw
	if late || e.Kind == rounds.Ended && e.Known == rounds.Inferred {
		return "by " + t.clock(e.At)
	}
	return "at " + t.clock(e.At)
}

// happened says in words what an event is, and how it is known unless the process wrote it itself.
func happened(e rounds.LifeEvent) string {
	text := clean(string(e.Kind))
	switch e.Kind {
	case rounds.Silent:
		text = "fell silent"
	case rounds.Paused:
		text = "was paused"
	case rounds.Suspected:
		text = "was suspected"
	}
	switch e.Known {
	case rounds.PeersSaw:
		text += ", peers saw it"
	case rounds.Inferred:
		text += ", inferred,"
	}
	return text
}

// timelineNodes returns the nodes that have a row, and the row of each.
func timelineNodes(g *rounds.Group, leaderships []rounds.Leadership) ([]uint64, map[uint64]int) {
	ids := map[uint64]bool{}
	for _, r := range leaderships {
		ids[r.Leader] = true
	}
	for _, n := range g.Nodes {
		if len(g.Nodes) <= timelineRows || slices.ContainsFunc(n.Lives, stopped) {
			ids[n.ID] = true
		}
	}
	row := map[uint64]int{}
	list := sorted(ids)
	for i, id := range list {
		row[id] = i
	}
	return list, row
}

// stopped reports whether a process has an event that kept it from taking part.
func stopped(l rounds.Life) bool {
	return slices.ContainsFunc(l.Events, func(e rounds.LifeEvent) bool {
		return e.Kind != rounds.Started && e.Kind != rounds.Resumed
	})
}

func hueIn(lanes []uint64) func(uint64) int {
	ids := slices.Sorted(slices.Values(lanes))
	return func(id uint64) int {
		i, _ := slices.BinarySearch(ids, id)
		return i % hues
	}
}
