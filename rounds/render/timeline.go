package render

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// timeline says who led when, over all rounds.
type timeline struct {
	Rows  []string      `json:"rows"`  // the nodes, by id
	Bars  []timelineBar `json:"bars"`  // in the rows
	State []timelineBar `json:"state"` // the group as a whole
	From  string        `json:"from"`
	Took  string        `json:"took"`
}

// timelineBar is a period in which something holds, such as that a node leads. From and Until are
// fractions of the width: the first number on the scale that widens short times, the second on the
// true scale.
type timelineBar struct {
	Row    int        `json:"row"`
	Kind   string     `json:"kind"`
	Leader string     `json:"leader,omitempty"`
	Hue    int        `json:"hue"`
	Term   string     `json:"term,omitempty"`
	From   [2]float64 `json:"from"`
	Until  [2]float64 `json:"until"`
	Text   string     `json:"text"`
}

// The kinds of bars.
const (
	barLeads    = "leads"
	barBelieved = "believed" // there is evidence that the leader is gone, but some nodes still follow it
	barFollows  = "follows"
	barNobody   = "nobody"
	barHandOver = "hand-over" // two nodes lead, until the earlier leader hears of the later one
	barOverlap  = "overlap"   // two nodes lead, and a finding says so
)

// timelineRows is the largest number of nodes for which the timeline has a row for each node. With
// more nodes, only nodes that led have a row.
const timelineRows = 24

// scale turns instants into fractions of the width.
type scale struct {
	instants []time.Time
	widened  []float64 // the place of each instant
}

// newScale gives each time between two instants a width that grows with its
// logarithm: rounds take milliseconds, and leaderships days.
func newScale(instants []time.Time) *scale {
	slices.SortFunc(instants, time.Time.Compare)
	s := &scale{instants: slices.CompactFunc(instants, time.Time.Equal)}
	at := 0.0
	for i, t := range s.instants {
		if i > 0 {
			at += 0.5 + math.Log2(1+float64(t.Sub(s.instants[i-1]))/float64(100*time.Microsecond))
		}
		s.widened = append(s.widened, at)
	}
	return s
}

// at returns the place of t, one of the instants, on both scales.
func (s *scale) at(t time.Time) [2]float64 {
	i, _ := slices.BinarySearchFunc(s.instants, t, time.Time.Compare)
	last := len(s.instants) - 1
	i = min(i, last)
	if last <= 0 {
		return [2]float64{}
	}
	whole := s.instants[last].Sub(s.instants[0])
	return [2]float64{
		rounded(s.widened[i] / s.widened[last]),
		rounded(float64(s.instants[i].Sub(s.instants[0])) / float64(whole)),
	}
}

func rounded(f float64) float64 { return math.Round(f*1e5) / 1e5 }

func newTimeline(g *rounds.Group, shown []*rounds.Round) *timeline {
	leaderships := leadershipsOf(g, shown)
	if len(leaderships) == 0 {
		return nil
	}
	var instants []time.Time
	for _, r := range leaderships {
		instants = append(instants, r.From, r.Until, r.believed)
		for _, f := range r.Followers {
			instants = append(instants, f.From, f.Until)
		}
	}
	s := newScale(instants)
	first, last := s.instants[0], s.instants[len(s.instants)-1]
	t := &timeline{
		From: first.UTC().Format("2006-01-02 15:04:05.000 UTC"), Took: span(last.Sub(first)),
		Bars: []timelineBar{}, State: []timelineBar{},
	}
	ids, row := timelineNodes(g, leaderships)
	for _, id := range ids {
		t.Rows = append(t.Rows, strconv.FormatUint(id, 10))
	}
	hue := hueIn(everyone(g))
	for _, r := range leaderships {
		t.leadership(r, s, row, hue)
	}
	t.sweep(g, leaderships, s, hue)
	return t
}

// timelineNodes returns the nodes that have a row, and the row of each.
func timelineNodes(g *rounds.Group, leaderships []leadership) ([]uint64, map[uint64]int) {
	ids := map[uint64]bool{}
	for _, r := range leaderships {
		ids[r.Leader] = true
	}
	if len(g.Nodes) <= timelineRows {
		for _, n := range g.Nodes {
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

func hueIn(lanes []uint64) func(uint64) int {
	ids := slices.Sorted(slices.Values(lanes))
	return func(id uint64) int {
		i, _ := slices.BinarySearch(ids, id)
		return i % hues
	}
}
