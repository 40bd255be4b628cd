package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Curves is a Chart of curves. Both axes are logarithmic and begin at 1.
type Curves struct {
	Title, Note string // Note is written below the chart
	Curves      []Curve
}

// Curve is one line. Its name is written at its end.
type Curve struct {
	Name   string
	Points []CurvePoint
}

// CurvePoint is a point of a curve. Hollow marks a point that was not measured. Name describes the
// point.
type CurvePoint struct {
	X, Y   float64
	Hollow bool
	Name   string
}

// The positions in a chart, in pixels.
const (
	curvesTop    = 14
	curvesBottom = 370
	curvesLeft   = 70
	curvesRight  = width - 190 // room for the names
	nameHeight   = 16
)

func (g Curves) name() string { return g.Title }

func (g Curves) height() float64 { return curvesBottom + 50 }

func (g Curves) draw(c *canvas) {
	var xs, ys []float64
	for _, one := range g.Curves {
		for _, p := range one.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	across := newAxis(xs, 1, curvesLeft, curvesRight, curvesLeft)
	up := newAxis(ys, 1, curvesBottom, curvesTop, curvesBottom+12)
	for _, v := range up.decades() {
		c.line("grid", curvesLeft, up.at(v), curvesRight, up.at(v))
		c.text("note", "end", curvesLeft-6, up.at(v)+4, short(v))
	}
	for _, v := range across.decades() {
		c.line("grid", across.at(v), curvesTop, across.at(v), curvesBottom)
		c.text("note", "middle", across.at(v), curvesBottom+16, short(v))
	}
	c.text("note", "start", 8, g.height()-10, g.Note)
	var ends []float64
	for _, one := range g.Curves {
		ends = append(ends, up.at(one.Points[len(one.Points)-1].Y))
	}
	names := apart(ends, curvesTop, curvesBottom)
	for i, one := range g.Curves {
		one.draw(c, i, across, up, names[i])
	}
}

// apart takes the heights of names, and returns heights at which no name covers another.
func apart(heights []float64, top, bottom float64) []float64 {
	moved := slices.Clone(heights)
	order := make([]*float64, len(moved))
	for i := range moved {
		order[i] = &moved[i]
	}
	slices.SortStableFunc(order, func(a, b *float64) int { return cmp.Compare(*a, *b) })
	for i, at := range order { // downwards
		if *at = max(*at, top); i > 0 {
			*at = max(*at, *order[i-1]+nameHeight)
		}
	}
	for i := len(order) - 1; i >= 0; i-- { // and up again, where it ran out of the chart
		limit := bottom
		if i+1 < len(order) {
			limit = *order[i+1] - nameHeight
		}
		*order[i] = min(*order[i], limit)
	}
	return moved
}

// draw draws the curve, its marks, and its name to the right at the height name.
func (one Curve) draw(c *canvas, series int, across, up axis, name float64) {
	dash := []string{"", " second", " third"}[series/colours%3]
	points := make([]string, len(one.Points))
	for i, p := range one.Points {
		points[i] = fmt.Sprintf("%.1f,%.1f", across.at(p.X), up.at(p.Y))
	}
	fmt.Fprintf(c, `<polyline class="c%d%s" points="%s"/>`+"\n", series%colours, dash, strings.Join(points, " "))
	for _, p := range one.Points {
		c.mark(series, p.Hollow, across.at(p.X), up.at(p.Y), p.Name)
	}
	last := one.Points[len(one.Points)-1]
	c.line("lead", across.at(last.X)+6, up.at(last.Y), curvesRight+18, name)
	c.mark(series, false, curvesRight+26, name, one.Name)
	c.text("label", "start", curvesRight+36, name+4, one.Name)
}
