package bench

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// FailoverTable is one FailoverReport for each algorithm, measured in turn.
type FailoverTable struct {
	Machine Machine          `json:"machine"`
	Rows    []FailoverReport `json:"algorithms"`
}

func (t FailoverTable) complete() bool {
	done, of := t.Count()
	return done == of
}

// Count returns how many samples there are, of all algorithms, and how many were asked for.
func (t FailoverTable) Count() (done, of int) {
	for _, r := range t.Rows {
		done, of = done+len(r.Samples), of+r.Kills
	}
	return done, of
}

// Report returns a report with a line for each algorithm, and draws the total of every sample.
func (t FailoverTable) Report() chart.Report {
	table := chart.Table{Columns: append(
		[]chart.Column{{Name: "ms, p50", Width: -12}, {Name: "votes", Width: -5}},
		append(chart.Columns(8, "detect", "elect", "announce", "total", "p95", "max", "floor", "x floor"),
			chart.Column{Name: "msgs", Width: 6})...,
	)}
	for _, r := range t.Rows {
		table.Rows = append(table.Rows, r.line())
	}
	tables := append([]chart.Table{table}, t.ratios()...)
	if t.Rows[0].Ratio != nil {
		tables = append(tables, chart.Table{After: []string{
			"floor: bare processes without safety, killed in the same minute; x floor: total, pair by pair",
		}})
	}
	r := t.Rows[0]
	done, of := t.Count()
	return chart.Report{
		Title: fmt.Sprintf("failover: %d nodes, profile %s, %s, %d times each",
			r.Nodes, r.Profile, r.Signal.inWords(), r.Kills),
		Lines: []string{t.Machine.String()}, Partial: chart.Partial(done, of, ""),
		Charts: []chart.Chart{t.chart()}, Tables: tables,
	}
}

// line returns the row of this report in the table.
func (r FailoverReport) line() chart.Row {
	if len(r.Samples) == 0 {
		return chart.Row{Cells: []string{r.Algorithm}, Remark: "not measured"}
	}
	floor, ratio := "-", "-"
	if r.Ratio != nil {
		floor, ratio = chart.Number(r.FloorAll.P50), chart.Number(r.Ratio.P50)
	}
	votes := "none"
	if r.Voters {
		votes = "all"
	}
	name := r.Algorithm
	if r.Against != "" {
		name = "  against"
	}
	return chart.Cells(name, votes,
		chart.Number(r.Detect.P50), chart.Number(r.Elect.P50), chart.Number(r.Announce.P50),
		chart.Number(r.Total.P50), chart.Number(r.Total.P95), chart.Number(r.Total.Max),
		floor, ratio, chart.Number(r.Messages.P50))
}

// ratios compares the medians of this executable with those of another.
func (t FailoverTable) ratios() (tables []chart.Table) {
	for i, old := range t.Rows {
		if old.Against == "" || len(old.Samples) == 0 || len(t.Rows[i-1].Samples) == 0 {
			continue
		}
		now := t.Rows[i-1]
		tables = append(tables, chart.Table{After: []string{
			fmt.Sprintf("%s against %s, medians: detect %s, elect %s, total %s times as long",
				old.Algorithm, old.Against,
				times(now.Detect, old.Detect), times(now.Elect, old.Elect), times(now.Total, old.Total)),
		}})
	}
	return tables
}

// times formats the median of one, divided by the median of other.
func times(one, other Summary) string {
	if other.P50 == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", one.P50/other.P50)
}

// chart draws a row of dots for each algorithm, and one row for all floors.
func (t FailoverTable) chart() chart.Dots {
	c := chart.Dots{Title: "The total of each sample", Unit: "milliseconds", Least: leastMillis}
	var floors []float64
	for _, r := range t.Rows {
		name := r.Algorithm
		if r.Against != "" {
			name += " against"
		}
		totals := column(r.Samples, func(s failoverSample) float64 { return s.Total })
		c.Rows = append(c.Rows, dots(name, totalSeries, totals))
		for _, s := range r.Samples {
			if s.Floor != nil {
				floors = append(floors, s.Floor.All)
			}
		}
	}
	if len(floors) > 0 {
		c.Rows = append(c.Rows, dots("floor", floorSeries, floors))
	}
	return c
}
