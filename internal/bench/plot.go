package bench

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

// ErrPlot says that a plot's file has a name of no known form.
var ErrPlot = errors.New("a plot is a file that ends in .svg or .html")

// CheckPlot refuses a file name that Plot could not serve.
func CheckPlot(file string) error {
	switch filepath.Ext(file) {
	case ".svg", ".html":
		return nil
	}
	return fmt.Errorf("%w, not %q", ErrPlot, file)
}

// Plot draws every sample of the report: a row of dots for each phase, on one
// logarithmic axis, in the form that the file's name asks for.
func (r FailoverReport) Plot(w io.Writer, file string) error {
	if err := CheckPlot(file); err != nil {
		return err
	}
	return r.chart().write(w, filepath.Ext(file) == ".html")
}

func (r FailoverReport) title() string {
	return fmt.Sprintf("%s, %d nodes, profile %s, %s",
		r.Algorithm, r.Nodes, r.Profile, r.Signal.inWords())
}

// chart is what the plot of the report shows.
func (r FailoverReport) chart() chart {
	c := chart{title: r.title(), note: fmt.Sprintf("%d times; %s", len(r.Samples), r.Machine)}
	if done, of := r.Count(); done < of {
		c.note = fmt.Sprintf("PARTIAL, %d of %d times; %s", done, of, r.Machine)
	}
	add := func(label, class string, value func(failoverSample) float64) {
		c.rows = append(c.rows, chartRow{label, class, column(r.Samples, value)})
	}
	if r.Signal == Docker {
		add("docker kill", "phase", func(s failoverSample) float64 { return s.DockerKill })
	}
	if r.Signal == Term {
		add("gap: nobody leads", "phase", func(s failoverSample) float64 { return s.Gap })
	} else {
		add("detect", "phase", func(s failoverSample) float64 { return s.Detect })
		add("elect", "phase", func(s failoverSample) float64 { return s.Elect })
	}
	add("announce", "phase", func(s failoverSample) float64 { return s.Announce })
	add("total", "total", func(s failoverSample) float64 { return s.Total })
	if r.Ratio != nil {
		add("floor", "floor", func(s failoverSample) float64 { return s.Floor.All })
	}
	return c
}

// chart is rows of dots over one logarithmic axis in milliseconds.
type chart struct {
	title, note string
	rows        []chartRow
}

type chartRow struct {
	label, class string
	samples      []float64
}

// The chart's measures, in pixels.
const (
	chartWidth  = 860
	chartLeft   = 150
	chartRight  = 30
	chartTop    = 64
	chartRowGap = 56
	chartBottom = 44
	dotRadius   = 3.5
	// leastMillis is where the axis begins at the lowest: below it clocks and
	// schedulers say nothing.
	leastMillis = 0.01
)

// The colours hold a contrast of 4.5 : 1 to their background, in both schemes.
const chartStyle = `
.ringleader-plot { background: #ffffff; color: #1d2330; font: 13px system-ui, sans-serif; }
.ringleader-plot text { fill: #1d2330; } .ringleader-plot .note { fill: #555d6e; font-size: 11px; }
.ringleader-plot .grid { stroke: #d5d9e2; } .ringleader-plot .median { stroke-width: 2; }
.ringleader-plot .phase { fill: #2b62b8; stroke: #2b62b8; }
.ringleader-plot .total { fill: #a3340f; stroke: #a3340f; }
.ringleader-plot .floor { fill: #55606e; stroke: #55606e; }
@media (prefers-color-scheme: dark) {
.ringleader-plot { background: #14171d; } .ringleader-plot text { fill: #e8eaf0; }
.ringleader-plot .note { fill: #a9b1c0; } .ringleader-plot .grid { stroke: #343a46; }
.ringleader-plot .phase { fill: #7fb0ff; stroke: #7fb0ff; }
.ringleader-plot .total { fill: #ff9a70; stroke: #ff9a70; }
.ringleader-plot .floor { fill: #aab4c3; stroke: #aab4c3; }
}
`

// write writes the chart as SVG, in a page of its own if it is to be one.
func (c chart) write(w io.Writer, page bool) error {
	var b bytes.Buffer
	if page {
		fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"+
			"<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n"+
			"<body style=\"margin:0\">\n", html.EscapeString(c.title))
	}
	c.draw(&b)
	if page {
		b.WriteString("</body>\n</html>\n")
	}
	_, err := b.WriteTo(w)
	return err
}

// draw writes the chart as SVG.
func (c chart) draw(b *bytes.Buffer) {
	x := c.scale()
	height := chartTop + chartRowGap*len(c.rows) + chartBottom
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="ringleader-plot" role="img" `+
		`viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", chartWidth, height, chartWidth, height)
	fmt.Fprintf(b, "<title>%s</title>\n<style>%s</style>\n", html.EscapeString(c.title), chartStyle)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="none"/>`+"\n")
	text(b, 16, 24, "", c.title)
	text(b, 16, 42, "note", c.note)
	c.axis(b, x, height-chartBottom+8)
	for i, row := range c.rows {
		row.draw(b, x, float64(chartTop+chartRowGap*i+chartRowGap/2))
	}
	b.WriteString("</svg>\n")
}

// scale spans all samples; what is below its beginning stands there.
func (c chart) scale() figures.Axis {
	var all []float64
	for _, row := range c.rows {
		for _, v := range row.samples {
			all = append(all, max(v, leastMillis))
		}
	}
	return figures.NewAxis(all, leastMillis, chartLeft, chartWidth-chartRight, chartLeft)
}

// axis draws a line at each power of ten, and between them at 2 and 5.
func (c chart) axis(b *bytes.Buffer, x figures.Axis, bottom int) {
	for _, decade := range x.Decades() {
		for _, step := range []float64{1, 2, 5} {
			v := decade * step
			if v > x.High*1.0001 {
				break
			}
			fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n",
				x.At(v), x.At(v), chartTop, bottom)
			fmt.Fprintf(b, `<text class="note" text-anchor="middle" x="%.1f" y="%d">%s</text>`+"\n",
				x.At(v), bottom+16, strings.TrimSuffix(fmt.Sprintf("%.4g", v), ".0"))
		}
	}
	text(b, 16, float64(bottom+16), "note", "milliseconds")
}

// draw puts the samples beside each other, those that would cover others
// above and below, and marks the median.
func (row chartRow) draw(b *bytes.Buffer, x figures.Axis, y float64) {
	text(b, 16, y+4, "", row.label)
	const lanes = 5
	for i, v := range row.samples {
		lane := float64(i%lanes) - lanes/2
		fmt.Fprintf(b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f" fill-opacity="0.45" `+
			`stroke="none"><title>%s ms</title></circle>`+"\n",
			row.class, x.At(v), y+lane*2*dotRadius, dotRadius, figures.Number(v))
	}
	if len(row.samples) == 0 {
		return
	}
	median := quantile(row.samples, 0.5)
	fmt.Fprintf(b, `<line class="%s median" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n",
		row.class, x.At(median), x.At(median), y-chartRowGap/2+4, y+chartRowGap/2-4)
	text(b, 16, y+20, "note", fmt.Sprintf("p50 %s, p95 %s",
		figures.Number(median), figures.Number(quantile(row.samples, 0.95))))
}

func text(b *bytes.Buffer, x, y float64, class, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n",
		class, x, y, html.EscapeString(s))
}
