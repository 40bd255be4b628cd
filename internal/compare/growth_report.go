package compare

import (
	"fmt"
	"html/template"
	"io"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/figures"
)

// The cases of theory.
const (
	Best  = "best"
	Worst = "worst"
)

// GrowthReport is what Grow simulated.
type GrowthReport struct {
	Machine bench.Machine `json:"machine"`
	Sizes   []int         `json:"sizes"`
	// Partial: it ended before all was done.
	Partial  bool     `json:"partial"`
	Lines    []Line   `json:"lines"`
	TooLarge []string `json:"too_large,omitempty"` // what was not simulated, and why
}

// Line is one case of one algorithm.
type Line struct {
	Algorithm string  `json:"algorithm"`
	Case      string  `json:"case"`
	Formula   string  `json:"formula"`         // of the messages
	Bound     bool    `json:"bound,omitempty"` // theory's figures are bounds
	Points    []Point `json:"points"`          // one a size

	entry catalog.Entry
	run   algorithms.Run
}

// Point is one election. The Cost is as simulated, once Done.
type Point struct {
	Nodes int `json:"nodes"`
	Cost
	Done     bool   `json:"done"`
	TooLarge string `json:"too_large,omitempty"` // why it was not simulated
	Wrong    bool   `json:"not_as_theory,omitempty"`
	Theory   Cost   `json:"theory"`
}

// agrees reports whether a simulated figure is what theory says.
func (l Line) agrees(p Point) bool {
	if l.Bound {
		return p.Messages <= p.Theory.Messages && p.Times <= p.Theory.Times
	}
	return p.Cost == p.Theory
}

// figures are those to draw: as simulated, or else theory's.
func (p Point) figures() Cost {
	if p.Done {
		return p.Cost
	}
	return p.Theory
}

// Text is the point in a table: "24 in 3", theory's in brackets.
func (p Point) Text() string {
	if !p.Done {
		return fmt.Sprintf("(%d in %d)", p.Theory.Messages, p.Theory.Times)
	}
	if p.Wrong {
		return fmt.Sprintf("%d in %d, NOT %d in %d", p.Messages, p.Times, p.Theory.Messages, p.Theory.Times)
	}
	return fmt.Sprintf("%d in %d", p.Messages, p.Times)
}

// Count is how many elections are done, and how many there are to do.
func (r GrowthReport) Count() (done, of int) {
	for _, l := range r.Lines {
		for _, p := range l.Points {
			if p.TooLarge == "" {
				of++
			}
			if p.Done {
				done++
			}
		}
	}
	return done, of
}

var growthLegend = []string{
	"Each figure is messages in transmission times: the longest chain of messages and timeouts,",
	"each of which leads to the next. In brackets: theory's, not simulated; after NOT: theory's, where",
	"it is another. Each algorithm as it nominates, or with its own quorum; an office adds 5(n-1).",
}

// Text writes the report as a table.
func (r GrowthReport) Text(w io.Writer) error {
	p := figures.To(w)
	p.Line("compare: elections without failures, simulated, by the number of living nodes")
	p.Line("%s", r.Machine)
	done, of := r.Count()
	p.Partial(done, of, "elections")
	p.Line("")
	for _, text := range growthLegend {
		p.Line("%s", text)
	}
	p.Line("")
	head := fmt.Sprintf("  %-12s %-5s", "", "case")
	for _, n := range r.Sizes {
		head += fmt.Sprintf(" %24s", fmt.Sprintf("n = %d", n))
	}
	p.Line("%s", head)
	for _, l := range r.Lines {
		row := fmt.Sprintf("  %-12s %-5s", l.Algorithm, l.Case)
		for _, point := range l.Points {
			row += fmt.Sprintf(" %24s", point.Text())
		}
		p.Line("%s", row)
	}
	if len(r.TooLarge) > 0 {
		p.Line("")
		p.Line("Not simulated")
		for _, what := range r.TooLarge {
			p.Line("  %s", what)
		}
	}
	return p.Err()
}

// HTML writes the report as one file that fetches nothing.
func (r GrowthReport) HTML(w io.Writer) error {
	data := struct {
		GrowthReport
		Legend   []string
		Done, Of int
		Charts   []drawing
	}{GrowthReport: r, Legend: growthLegend}
	data.Done, data.Of = r.Count()
	for _, g := range []growth{
		{"Messages, best case", Best, "messages", func(c Cost) int { return c.Messages }},
		{"Messages, worst case", Worst, "messages", func(c Cost) int { return c.Messages }},
		{"Transmission times, best case", Best, "transmission times", func(c Cost) int { return c.Times }},
		{"Transmission times, worst case", Worst, "transmission times", func(c Cost) int { return c.Times }},
	} {
		data.Charts = append(data.Charts, drawing{template.HTMLEscapeString(g.title), g.draw(r)})
	}
	return pages().ExecuteTemplate(w, "growth.html", data)
}
