package compare

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

// growth is a chart with a curve for each algorithm, over the number of nodes; both
// axes are logarithmic.
type growth struct {
	title, which, unit string
	of                 func(Cost) int
}

// The measures of a chart, in pixels.
const (
	curvesWidth  = 920
	curvesHeight = 420
	curvesLeft   = 70
	curvesRight  = 190 // for the names
	curvesBottom = 50
	nameHeight   = 16
)

// curve is the line of one algorithm.
type curve struct {
	name   string
	series int
	x, y   []float64
	hollow []bool // not simulated
	tips   []string
	label  float64 // where the name stands
}

func (g growth) draw(r GrowthReport) template.HTML {
	bottom, right := float64(curvesHeight-curvesBottom), float64(curvesWidth-curvesRight)
	var values, sizes []float64
	for _, l := range r.Lines {
		for _, p := range l.Points {
			values = append(values, float64(g.of(p.figures())))
		}
	}
	for _, n := range r.Sizes {
		sizes = append(sizes, float64(n))
	}
	across := figures.NewAxis(sizes, 1, curvesLeft, right, curvesLeft)
	up := figures.NewAxis(values, 1, bottom, 14, bottom+12)
	var c canvas
	c.open(g.title, curvesWidth, curvesHeight)
	for _, v := range up.Decades() {
		c.line("grid", curvesLeft, up.At(v), right, up.At(v))
		c.text("note", "end", curvesLeft-6, up.At(v)+4, short(v))
	}
	for _, v := range across.Decades() {
		c.line("grid", across.At(v), 14, across.At(v), bottom)
		c.text("note", "middle", across.At(v), bottom+16, short(v))
	}
	c.text("note", "start", 8, curvesHeight-10, g.unit+" over living nodes, both logarithmic; hollow: theory's")
	curves := g.curves(r, across, up)
	place(curves, 14, bottom)
	for _, one := range curves {
		one.draw(&c, right)
	}
	return c.done()
}

// curves are the lines of the chart, in the order of the report.
func (g growth) curves(r GrowthReport, across, up figures.Axis) (all []curve) {
	for _, l := range r.Lines {
		if l.Case != g.which {
			continue
		}
		one := curve{name: l.Algorithm, series: len(all)}
		for _, p := range l.Points {
			v := g.of(p.figures())
			one.x, one.y = append(one.x, across.At(float64(p.Nodes))), append(one.y, up.At(float64(v)))
			one.hollow = append(one.hollow, !p.Done)
			one.tips = append(one.tips, fmt.Sprintf("%s, %s: %d %s", l.Algorithm, count(p.Nodes, "node"), v, g.unit))
		}
		one.label = one.y[len(one.y)-1]
		all = append(all, one)
	}
	return all
}

// place moves names apart that would cover each other.
func place(curves []curve, top, bottom float64) {
	order := make([]*curve, len(curves))
	for i := range curves {
		order[i] = &curves[i]
	}
	slices.SortStableFunc(order, func(a, b *curve) int { return cmp.Compare(a.label, b.label) })
	for i, c := range order { // downwards
		if c.label = max(c.label, top); i > 0 {
			c.label = max(c.label, order[i-1].label+nameHeight)
		}
	}
	for i := len(order) - 1; i >= 0; i-- { // and up again, where it ran out of the chart
		limit := bottom
		if i+1 < len(order) {
			limit = order[i+1].label - nameHeight
		}
		order[i].label = min(order[i].label, limit)
	}
}

// draw draws the line, its marks, and its name at the right.
func (one curve) draw(c *canvas, right float64) {
	dash := []string{"", " second", " third"}[one.series/colours%3]
	points := make([]string, len(one.x))
	for i := range one.x {
		points[i] = fmt.Sprintf("%.1f,%.1f", one.x[i], one.y[i])
	}
	fmt.Fprintf(c, `<polyline class="c%d%s" points="%s"/>`+"\n", one.series%colours, dash, strings.Join(points, " "))
	for i := range one.x {
		c.mark(one.series, one.hollow[i], one.x[i], one.y[i], one.tips[i])
	}
	last := len(one.x) - 1
	c.line("lead", one.x[last]+6, one.y[last], right+18, one.label)
	c.mark(one.series, false, right+26, one.label, one.name)
	c.text("label", "start", right+36, one.label+4, one.name)
}
