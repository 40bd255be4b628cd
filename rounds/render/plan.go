package render

import (
	"slices"
	"unicode"
)

// The measures of a drawing, in pixels.
const (
	planMargin = 20
	planTime   = 98 // width of the column of times
	planGap    = 92 // between two lanes, if there is room
	planWide   = 70 // from this gap on, each message has an arrow of its own, with its kind in full
	planMinGap = 13
	planLanes  = 560 // width of all lanes together, unless they need more
	planNotes  = 388 // width of the column of notes
	planNote   = 16  // height of one line of a note
	planRow    = 30  // least height of a step that is drawn alone
	planDense  = 3   // greatest height of each step in a band of several steps
	planBand   = 240 // greatest height of such a band, unless its notes need more
	planPhase  = 30
	planKey    = 19 // height of a line of the legend
	noteChars  = 56
	noteIndent = "\u00a0\u00a0" // spaces that SVG does not fold
)

// plan has the positions of all parts of a drawing, in pixels.
type plan struct {
	x             []float64 // of each lane
	y             []float64 // of each step
	rows          []row
	head          []headLine
	legend        []legendItem
	top, bottom   float64 // of the lanes
	column        float64 // x of the notes
	width, height float64
	gap           float64
}

// headLine is a line of text above the diagram.
type headLine struct {
	class, text string
	y           float64
}

// row is the place of a band.
type row struct {
	band
	y, height float64
	phases    []phase // the phases that begin with the band; their titles stand above the band
	notes     []planNoteLine
}

type planNoteLine struct {
	note
	text string
}

// newPlan returns the positions of the parts of a layout. head returns the lines of text that stand above the
// diagram, for its width.
func newPlan(s *layout, head func(width float64) []headLine) *plan {
	p := &plan{gap: planGap, y: make([]float64, len(s.round.Steps))}
	if n := len(s.lanes); n > 1 {
		p.gap = max(min(planGap, planLanes/float64(n-1)), planMinGap)
	}
	p.gap = float64(int(p.gap))
	left := float64(planMargin + planTime + 30)
	for i := range s.lanes {
		p.x = append(p.x, left+float64(i)*p.gap)
	}
	p.column = left + p.gap*float64(max(len(s.lanes)-1, 0)) + 36
	p.width = p.column + planNotes + planMargin
	at := 22.0
	if head != nil {
		p.head = head(p.width)
		at = p.head[len(p.head)-1].y + 28
	}
	at = p.placeLegend(legendOf(s), at)
	p.top = at + p.nameHeight(s)
	at = p.top + 6
	for _, b := range s.bands {
		r := row{band: b, phases: s.phaseAt(b.first), notes: noteLines(s.notes(b))}
		at += planPhase * float64(len(r.phases))
		r.y, r.height = at, rowHeight(b, len(r.notes))
		p.place(r)
		p.rows = append(p.rows, r)
		at += r.height
	}
	p.bottom = at + 12
	p.height = p.bottom + planMargin
	return p
}

// placeLegend puts the items beside each other, in as many lines as they need, and returns where these end.
func (p *plan) placeLegend(items []legendItem, y float64) float64 {
	x := float64(planMargin)
	for _, item := range items {
		width := legendSample + 6 + textWidth(item.text, 12) + 12
		if x > planMargin && x+width > p.width-planMargin {
			x, y = planMargin, y+planKey
		}
		item.x, item.y = x, y
		x += width
		p.legend = append(p.legend, item)
	}
	return y + planKey
}

// textWidth returns a width that hardly any text of this size exceeds, whatever the font.
func textWidth(text string, size float64) float64 {
	ems := 0.0
	for _, c := range text {
		if unicode.IsUpper(c) {
			ems += 0.76
		} else {
			ems += 0.6
		}
	}
	return ems * size
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
	for i := range s.lanes {
		longest = max(longest, len(s.name(i)))
	}
	return longest
}

func (p *plan) upright(s *layout) bool { return float64(9*p.longest(s)+4) > p.gap }

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
			lines = append(lines, planNoteLine{n, l})
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
