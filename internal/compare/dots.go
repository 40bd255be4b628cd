package compare

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

// dots is a chart with a line for each contender and a mark on it for each step.
type dots struct {
	title, unit string
	least       float64 // what is below it is drawn as zero
	of          func(Sample) float64
}

// charts are those of a page.
var charts = []dots{
	{"Time without a leader", "milliseconds", 0.1, func(s Sample) float64 { return s.Nobody }},
	{"Time with two leaders", "milliseconds", 0.1, func(s Sample) float64 { return s.Two }},
	{"Fault to all know the next leader", "milliseconds", 0.1, func(s Sample) float64 {
		return s.Detect + s.Elect + s.Announce
	}},
	{"Messages in the round", "messages", 1, func(s Sample) float64 { return float64(s.Messages) }},
	{"Bytes in the round", "bytes", 1, func(s Sample) float64 { return float64(s.Bytes) }},
}

// The measures of a chart, in pixels.
const (
	dotsWidth  = 920
	dotsLeft   = 210
	dotsRight  = 30
	dotsZero   = dotsLeft - 24
	dotsRow    = 26
	dotsBottom = 40
	dotsLane   = 2.4 // between the steps of a row, so that equal figures do not hide each other
)

// draw draws the chart of a report.
func (d dots) draw(r Report) template.HTML {
	var values []float64
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			if s.ok() {
				values = append(values, d.of(s))
			}
		}
	}
	a := figures.NewAxis(values, d.least, dotsLeft, dotsWidth-dotsRight, dotsZero)
	bottom := float64(10 + dotsRow*len(r.Rows))
	var c canvas
	c.open(d.title, dotsWidth, bottom+dotsBottom)
	for _, v := range a.Decades() {
		c.line("grid", a.At(v), 4, a.At(v), bottom)
		c.text("note", "middle", a.At(v), bottom+16, short(v))
	}
	c.line("grid", dotsZero, 4, dotsZero, bottom)
	c.text("note", "middle", dotsZero, bottom+16, "0")
	c.text("note", "start", 8, bottom+34, d.unit+", logarithmic")
	steps := r.kinds()
	for i, row := range r.Rows {
		y := float64(10+dotsRow*i) + dotsRow/2
		c.line("rule", dotsZero, y, dotsWidth-dotsRight, y)
		c.text("label", "start", 8, y+4, row.name())
		for _, s := range row.Samples {
			if s.ok() {
				step := slices.Index(steps, s.Step)
				lane := (float64(step) - float64(len(steps)-1)/2) * dotsLane
				c.mark(step, false, a.At(d.of(s)), y+lane,
					fmt.Sprintf("%s, %s: %s %s", row.name(), s.Step, figures.Number(d.of(s)), d.unit))
			}
		}
	}
	return c.done()
}

// kinds are the steps of the script, each once, in the order of all.
func (r Report) kinds() []Step {
	return slices.DeleteFunc(Steps(), func(s Step) bool { return !slices.Contains(r.Script, s) })
}

// name is the contender in a chart.
func (row Row) name() string {
	switch row.Votes {
	case Office:
		return row.Algorithm + ", office"
	case Own:
		return row.Algorithm + ", own quorum"
	}
	return row.Algorithm
}

// key draws what the marks mean.
func key(names []string) template.HTML {
	const each, perLine = 150, 6
	var c canvas
	lines := (len(names) + perLine - 1) / perLine
	c.open("What the marks mean", dotsWidth, float64(24*lines))
	for i, name := range names {
		x, y := float64(14+each*(i%perLine)), float64(12+24*(i/perLine))
		c.mark(i, false, x, y, name)
		c.text("label", "start", x+12, y+4, name)
	}
	return c.done()
}
