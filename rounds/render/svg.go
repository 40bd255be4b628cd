package render

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"

	"github.com/ringleader-dev/ringleader/rounds"
)

//go:embed svg.css
var svgCSS string

// hues is the number of colours for leaders, and for kinds of messages.
const hues = 6

// SVG draws a round as a file that needs no other file: it has no script, no font and no
// link. It is light or dark, as the viewer prefers.
func SVG(w io.Writer, r *rounds.Round) error {
	s := newLayout(r, nil, nil)
	d := newDrawing(w, s, func(width float64) []headLine { return svgHead(r, width) })
	d.open()
	d.put("<style>%s</style>", svgCSS)
	d.put(`<rect class="paper" width="100%%" height="100%%"/>`)
	for _, l := range d.head {
		d.text(planMargin, l.y, l.class, l.text)
	}
	d.sequence()
	d.put("</svg>\n")
	return d.out.Flush()
}

// svgHead returns the round's title, cause and findings, in lines that fit the width.
func svgHead(r *rounds.Round, width float64) (lines []headLine) {
	y := 12.0
	add := func(class, text string, size, pitch float64) {
		for _, l := range wrap(text, int((width-2*planMargin)/(0.66*size))) {
			y += pitch
			lines = append(lines, headLine{class, l, y})
		}
	}
	add("title", title(r), 17, 22)
	if c := cause(r); c != "" {
		add("soft", c, 12, 20)
	}
	for _, f := range r.Findings {
		add("bad", clean(string(f.Name))+": "+clean(f.Text), 12, 18)
	}
	return lines
}

// drawing writes the elements of an SVG. It escapes the texts.
type drawing struct {
	*layout
	*plan
	out    *bufio.Writer
	kind   map[string]int    // the colour of each kind of message
	index  map[string]int    // of each kind of message in kinds
	letter map[string]string // of each kind of message
	hueOf  func(id uint64) int
	taken  []box // where no tag can be
	tags   []tag
}

func newDrawing(w io.Writer, s *layout, head func(width float64) []headLine) *drawing {
	d := &drawing{
		layout: s, plan: newPlan(s, head), out: bufio.NewWriter(w), kind: map[string]int{}, index: map[string]int{},
		letter: lettersOf(s.kinds()), hueOf: hueIn(s.lanes),
	}
	for i, k := range s.kinds() {
		d.kind[k], d.index[k] = i%hues, i
	}
	return d
}

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// open begins the drawing. The title and description that it writes are for people who cannot see
// the drawing.
func (d *drawing) open() {
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" class="seq" role="img" width="%.0f" height="%.0f" `+
		`viewBox="0 0 %.0f %.0f">`, d.width, d.height, d.width, d.height)
	d.put("<title>%s</title><desc>%s</desc>", html.EscapeString(title(d.round)),
		html.EscapeString("Sequence diagram: a line down for each node, time from top to bottom, an "+
			"arrow for each message. "+cause(d.round)))
}

func (d *drawing) text(x, y float64, class, text string) {
	d.put(`<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, html.EscapeString(text))
}

// sequence draws the diagram itself.
func (d *drawing) sequence() {
	d.keys()
	d.names()
	d.occupy()
	for _, r := range d.rows {
		d.phaseTitles(r)
	}
	d.laneLines()
	for i := range d.rows {
		if d.rows[i].single() {
			d.messages(d.rows[i])
		} else {
			d.manyMessages(d.rows[i])
		}
	}
	for _, r := range d.rows {
		d.steps(r)
	}
	d.writeTags()
	for _, r := range d.rows {
		d.notesOf(r)
	}
}

func (d *drawing) names() {
	for i := range d.lanes {
		name := d.name(i)
		if d.upright(d.layout) {
			d.put(`<text class="name small" data-n="%d" transform="translate(%.1f %.1f) rotate(-90)" `+
				`text-anchor="start">%s</text>`, i, d.x[i]+3, d.top-8-float64(3*len(name)), name)
			continue
		}
		d.put(`<text x="%.1f" y="%.1f" class="name" data-n="%d">%s</text>`, d.x[i], d.top-10, i, name)
	}
}

// phaseTitles draws a line and a title above the row for each phase that begins with it.
func (d *drawing) phaseTitles(r row) {
	for i, p := range r.phases {
		y := phaseAt(r, i)
		d.put(`<path class="rule" d="M%d %.1fH%.1f"/>`, planMargin, y-15, d.width-planMargin)
		d.text(planMargin, y, "phase", p.title())
	}
}

// phaseAt returns the y of the title of a row's i-th phase.
func phaseAt(r row, i int) float64 { return r.y - planPhase*float64(len(r.phases)-i) + 20 }

// notesOf writes the time and the notes of a row.
func (d *drawing) notesOf(r row) {
	node := ""
	if r.single() {
		node = " " + ofLane(d.lane(d.round.Steps[r.first].Ref.Node))
	}
	write := func(x, y float64, class, of, text string) {
		d.put(`<text x="%.1f" y="%.1f" class="%s"%s>%s</text>`, x, y, class, of, html.EscapeString(text))
	}
	write(planMargin+planTime-6, r.y+16, "time", node, millis(d.since(r.first)))
	for i, n := range r.notes {
		of := node
		if len(n.messages) > 0 {
			of += fmt.Sprintf(` data-k="%d"`, d.index[d.round.Messages[n.messages[0]].Kind])
		}
		write(d.column, r.y+16+planNote*float64(i), aboutNames[n.about], of, n.text)
	}
}
