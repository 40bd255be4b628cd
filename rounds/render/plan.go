package render

import (
	"slices"
	"strconv"
)

// The measures of a drawing, in pixels.
const (
	planMargin = 20
	planTime   = 84 // width of the column of times
	planGap    = 96 // between two lanes, if there is room
	planMinGap = 13
	planLanes  = 560 // width of all lanes together, unless they need more
	planNotes  = 370 // width of the column of notes
	planNote   = 16  // height of one line of a note
	planRow    = 30  // least height of a step that is drawn alone
	planDense  = 3   // greatest height of each step in a band of several steps
	planBand   = 240 // greatest height of such a band, unless its notes need more
	planPhase  = 30
	noteChars  = 62
	noteIndent = "\u00a0\u00a0" // spaces that SVG does not fold
)

// plan has the positions of all parts of a drawing, in pixels.
type plan struct {
	x             []float64 // of each lane
	y             []float64 // of each step
	rows          []row
	top, bottom   float64 // of the lanes
	column        float64 // x of the notes
	width, height float64
	gap           float64
}

// row is the place of a band.
type row struct {
	band
	y, height float64
	phases    []phase // the phases that begin with the band; their titles stand above the band
	notes     []planNoteLine
}

type planNoteLine struct {
	about about
	text  string
}

// newPlan returns the positions of the parts of a layout. head is the height of what stands above.
func newPlan(s *layout, head float64) *plan {
	p := &plan{gap: planGap, y: make([]float64, len(s.round.Steps))}
	if n := len(s.lanes); n > 1 {
		p.gap = max(min(planGap, planLanes/float64(n-1)), planMinGap)
	}
	p.gap = float64(int(p.gap))
	left := float64(planMargin + planTime + 30)
	for i := range s.lanes {
		p.x = append(p.x, left+float64(i)*p.gap)
	}
	p.top = head + p.nameHeight(s)
	at := p.top + 6
	for _, b := range s.bands {
		r := row{band: b, phases: s.phaseAt(b.first), notes: noteLines(s.notes(b))}
		at += planPhase * float64(len(r.phases))
		r.y, r.height = at, rowHeight(b, len(r.notes))
		p.place(r)
		p.rows = append(p.rows, r)
		at += r.height
	}
	p.bottom = at + 12
	p.column = left + p.gap*float64(max(len(s.lanes)-1, 0)) + 36
	p.width = p.column + planNotes + planMargin
	p.height = p.bottom + planMargin
	return p
}

// nameHeight returns the height of the nodes' names. Where lanes are narrow, the names stand upright.
func (p *plan) nameHeight(s *layout) float64 {
	if p.upright(s) {
		return float64(7*p.longest(s) + 16)
	}
	return 26
}

func (p *plan) longest(s *layout) int {
	longest := 0
	for _, id := range s.lanes {
		longest = max(longest, len(strconv.FormatUint(id, 10)))
	}
	return longest
}

func (p *plan) upright(s *layout) bool { return float64(7*p.longest(s)+6) > p.gap }

// place puts the steps of a row below each other.
func (p *plan) place(r row) {
	pitch := min(planDense, (r.height-20)/float64(r.last-r.first))
	for i := r.first; i < r.last; i++ {
		p.y[i] = r.y + 12 + pitch*float64(i-r.first)
	}
}

func rowHeight(b band, lines int) float64 {
	height := max(planRow, float64(planNote*lines+10))
	if !b.single() {
		height = max(height, min(planDense*float64(b.last-b.first), planBand)+20)
	}
	return height
}

func noteLines(notes []note) (lines []planNoteLine) {
	for _, n := range notes {
		for _, l := range hang(n.text, noteChars, noteIndent) {
			lines = append(lines, planNoteLine{n.about, l})
		}
	}
	return lines
}

// kinds returns the kinds of the round's messages, sorted. The index of a kind decides its colour.
func (s *layout) kinds() []string {
	var kinds []string
	for _, m := range s.round.Messages {
		kinds = append(kinds, m.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
