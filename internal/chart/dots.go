package chart

import (
	"fmt"
	"slices"
)

// Dots is a Chart with a line for each row, and on it a mark for each dot. All rows share one
// logarithmic axis.
type Dots struct {
	Title, Unit string
	Least       float64 // smaller values are drawn as zero; more than 0
	Rows        []DotRow
}

// DotRow is one line of a chart.
type DotRow struct {
	Label string
	Note  string // text below the label, or empty
	Dots  []Dot
	Lines []float64 // values at which a line crosses the row
}

// Dot is a value of one of the series, which are counted from 0.
type Dot struct {
	Series int
	Value  float64
	Name   string // text before the value that says what the dot is, or empty
}

// The positions in a chart, in pixels.
const (
	width    = 920
	dotsLeft = 210
	dotsEnd  = width - 30
	dotsZero = dotsLeft - 24
	dotsTop  = 10
	// leastLanes is how many lanes a row has at least. Its dots are spread over the lanes, so that
	// equal values do not hide each other.
	leastLanes = 5
)

func (d Dots) name() string { return d.Title }

func (d Dots) height() float64 { return dotsTop + d.row()*float64(len(d.Rows)) + 40 }

// row returns the height of a row.
func (d Dots) row() float64 {
	if slices.ContainsFunc(d.Rows, func(r DotRow) bool { return r.Note != "" }) {
		return 56
	}
	return 26
}

func (d Dots) draw(c *canvas) {
	var values []float64
	lanes := leastLanes
	for _, row := range d.Rows {
		for _, dot := range row.Dots {
			values, lanes = append(values, dot.Value), max(lanes, dot.Series+1)
		}
	}
	a := newAxis(values, d.Least, dotsLeft, dotsEnd, dotsZero)
	bottom := dotsTop + d.row()*float64(len(d.Rows))
	for _, v := range a.decades() {
		c.line("grid", a.at(v), 4, a.at(v), bottom)
		c.text("note", "middle", a.at(v), bottom+16, short(v))
	}
	c.line("grid", dotsZero, 4, dotsZero, bottom)
	c.text("note", "middle", dotsZero, bottom+16, "0")
	c.text("note", "start", 8, bottom+34, d.Unit+", logarithmic")
	for i, row := range d.Rows {
		d.drawRow(c, a, row, dotsTop+d.row()*(float64(i)+0.5), lanes)
	}
}

// drawRow draws a row whose middle is at the height y.
func (d Dots) drawRow(c *canvas, a axis, row DotRow, y float64, lanes int) {
	c.line("rule", dotsZero, y, dotsEnd, y)
	c.text("label", "start", 8, y+4, row.Label)
	if row.Note != "" {
		c.text("note", "start", 8, y+20, row.Note)
	}
	of := map[int]int{} // how many dots of a series there are already
	for _, dot := range row.Dots {
		lane := float64((dot.Series+of[dot.Series])%lanes) - float64(lanes-1)/2
		of[dot.Series]++
		tip := fmt.Sprintf("%s %s", Number(dot.Value), d.Unit)
		if dot.Name != "" {
			tip = dot.Name + ": " + tip
		}
		c.mark(dot.Series, false, a.at(dot.Value), y+lane*d.row()/float64(lanes+3), tip)
	}
	for _, v := range row.Lines {
		c.line("middle", a.at(v), y-d.row()/2+4, a.at(v), y+d.row()/2-4)
	}
}

// key draws the mark of each series with its name.
func key(c *canvas, names []string) {
	const each, perLine = 150, 6
	c.open("What the marks mean", width, float64(24*((len(names)+perLine-1)/perLine)))
	for i, name := range names {
		x, y := float64(14+each*(i%perLine)), float64(12+24*(i/perLine))
		c.mark(i, false, x, y, name)
		c.text("label", "start", x+12, y+4, name)
	}
}
