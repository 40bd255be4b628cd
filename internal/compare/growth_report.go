package compare

import (
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// The cases of theory.
const (
	Best  = "best"
	Worst = "worst"
)

// GrowthReport is the result of Grow.
type GrowthReport struct {
	Machine bench.Machine `json:"machine"`
	Sizes   []int         `json:"sizes"`
	// Partial says that Grow ended before all elections were simulated.
	Partial  bool     `json:"partial"`
	Lines    []Line   `json:"lines"`
	TooLarge []string `json:"too_large,omitempty"` // what was not simulated, and why
}

// Line is one case of one algorithm.
type Line struct {
	Algorithm string  `json:"algorithm"`
	Case      string  `json:"case"`
	Formula   string  `json:"formula"`         // the formula for the number of messages
	Times     string  `json:"times_formula"`   // the formula for the transmission times
	Bound     bool    `json:"bound,omitempty"` // the figures of theory are upper bounds
	Points    []Point `json:"points"`          // one for each number of nodes

	entry catalog.Entry
	run   algorithms.Run
}

// Point is one election. Its Cost is the simulated one if Done is true.
type Point struct {
	Nodes int `json:"nodes"`
	Cost
	Done     bool   `json:"done"`
	TooLarge string `json:"too_large,omitempty"` // why it was not simulated
	Wrong    bool   `json:"not_as_theory,omitempty"`
	Theory   Cost   `json:"theory"`
}

// agrees reports whether the simulated figures of a point agree with theory: they are equal or, if
// those of theory are upper bounds, not higher.
func (l Line) agrees(p Point) bool {
	if l.Bound {
		return p.Messages <= p.Theory.Messages && p.Times <= p.Theory.Times
	}
	return p.Cost == p.Theory
}

// figures returns the numbers to draw: the simulated cost, or the cost in theory if nothing was
// simulated.
func (p Point) figures() Cost {
	if p.Done {
		return p.Cost
	}
	return p.Theory
}

// Text returns the point as a table shows it: "24 in 3" is 24 messages in 3 transmission times.
// Figures of theory are in brackets.
func (p Point) Text() string {
	if !p.Done {
		return fmt.Sprintf("(%d in %d)", p.Theory.Messages, p.Theory.Times)
	}
	if p.Wrong {
		return fmt.Sprintf("%d in %d, NOT %d in %d", p.Messages, p.Times, p.Theory.Messages, p.Theory.Times)
	}
	return fmt.Sprintf("%d in %d", p.Messages, p.Times)
}

// Count returns how many elections were simulated, and how many are to be.
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
	"it is another. Each algorithm as it nominates, or with its own quorum; votes add 5(n-1).",
}

// Report returns a report with a line for each case of each algorithm, and draws all as curves.
func (r GrowthReport) Report() chart.Report {
	done, of := r.Count()
	report := chart.Report{
		Title: "growth: elections without failures, simulated, by the number of living nodes",
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, "elections"), Legend: growthLegend,
		Tables: []chart.Table{r.table()},
	}
	messages, times := func(c Cost) int { return c.Messages }, func(c Cost) int { return c.Times }
	for _, c := range []string{Best, Worst} {
		report.Charts = append(report.Charts,
			r.curves(c, "messages", messages), r.curves(c, "transmission times", times))
	}
	if len(r.TooLarge) > 0 {
		t := chart.Table{Title: "Not simulated"}
		for _, what := range r.TooLarge {
			t.Rows = append(t.Rows, chart.Row{Remark: what})
		}
		report.Tables = append(report.Tables, t)
	}
	return report
}

func (r GrowthReport) table() chart.Table {
	t := chart.Table{Columns: []chart.Column{{Width: -12}, {Name: "case", Width: -5}, {Name: "messages", Width: -26}}}
	for _, n := range r.Sizes {
		t.Columns = append(t.Columns, chart.Column{Name: fmt.Sprintf("n = %d", n), Width: 24})
	}
	for _, l := range r.Lines {
		formula := l.Formula
		if l.Bound {
			formula = "≤ " + formula
		}
		row := chart.Cells(l.Algorithm, l.Case, formula)
		for _, point := range l.Points {
			row.Cells = append(row.Cells, point.Text())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// curves draws one figure, for one case, as a curve for each algorithm.
func (r GrowthReport) curves(which, unit string, of func(Cost) int) chart.Curves {
	c := chart.Curves{
		Title: fmt.Sprintf("%s%s, %s case", strings.ToUpper(unit[:1]), unit[1:], which),
		Note:  unit + " over living nodes, both logarithmic; hollow: theory's",
	}
	for _, l := range r.Lines {
		if l.Case != which {
			continue
		}
		one := chart.Curve{Name: l.Algorithm}
		for _, p := range l.Points {
			v := of(p.figures())
			one.Points = append(one.Points, chart.CurvePoint{
				X: float64(p.Nodes), Y: float64(v), Hollow: !p.Done,
				Name: fmt.Sprintf("%s, %s: %d %s", l.Algorithm, words.Plural(p.Nodes, "node"), v, unit),
			})
		}
		c.Curves = append(c.Curves, one)
	}
	return c
}
