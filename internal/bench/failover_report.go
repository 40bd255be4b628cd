package bench

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// FailoverReport is the result of Failover.
type FailoverReport struct {
	Machine   Machine `json:"machine"`
	Algorithm string  `json:"algorithm"`
	// Binary is the path of the other executable, if this report is about that one.
	Binary string `json:"binary,omitempty"`
	// Against says what this report is about, if it is what the report before it is compared with: another
	// executable, or nodes without credentials.
	Against string `json:"against,omitempty"`
	Secured bool   `json:"secured,omitempty"` // the nodes have credentials
	Nodes   int    `json:"nodes"`
	Kills   int    `json:"kills"` // how many were asked for; there may be fewer samples
	Signal  Signal `json:"signal"`
	Profile string `json:"profile"`
	Voters  bool   `json:"voters"` // all nodes vote

	// DockerKill is the time that Docker took to kill the leader, before the failover began.
	// FromCall is the time from the call of Docker to the end of the failover. Both are nil without
	// Docker.
	DockerKill *Summary `json:"docker_kill_ms,omitempty"`
	FromCall   *Summary `json:"from_call_ms,omitempty"`

	Detect   Summary `json:"detect_ms"`
	Elect    Summary `json:"elect_ms"`
	Announce Summary `json:"announce_ms"`
	Total    Summary `json:"total_ms"`
	Gap      Summary `json:"gap_ms"`
	Messages Summary `json:"messages"`
	// FailedRounds is how many samples took more than one term.
	FailedRounds int `json:"failed_rounds"`

	// FloorFirst and FloorAll are the floor. Ratio is how many times as long as its floor each
	// sample took. All three are nil without a floor.
	FloorFirst *Summary `json:"floor_first_ms,omitempty"`
	FloorAll   *Summary `json:"floor_all_ms,omitempty"`
	Ratio      *Summary `json:"ratio,omitempty"`
	// Allowed is the time to aim for: twice the floor, and on a ring three hops for each node; with
	// voters four times the floor and two fsyncs. It is nil for containers, since the floor is
	// measured with processes.
	Allowed *Summary `json:"allowed_ms,omitempty"`
	Within  int      `json:"within_allowed"` // how many samples are within Allowed
	Fsync   *Summary `json:"fsync_ms,omitempty"`

	Samples []failoverSample `json:"samples"`
}

// Count returns how many samples there are, and how many were asked for.
func (r FailoverReport) Count() (done, of int) { return len(r.Samples), r.Kills }

func (r *FailoverReport) summarize() {
	of := func(value func(failoverSample) float64) Summary {
		return summarize(column(r.Samples, value))
	}
	r.Detect = of(func(s failoverSample) float64 { return s.Detect })
	r.Elect = of(func(s failoverSample) float64 { return s.Elect })
	r.Announce = of(func(s failoverSample) float64 { return s.Announce })
	r.Total = of(func(s failoverSample) float64 { return s.Total })
	r.Gap = of(func(s failoverSample) float64 { return s.Gap })
	r.Messages = of(func(s failoverSample) float64 { return float64(s.Messages) })
	if r.Signal == Docker {
		kill := of(func(s failoverSample) float64 { return s.DockerKill })
		both := of(func(s failoverSample) float64 { return s.FromCall })
		r.DockerKill, r.FromCall = &kill, &both
	}
	for _, s := range r.Samples {
		if s.Terms > 1 {
			r.FailedRounds++
		}
	}
	if r.Voters {
		fsync := of(func(s failoverSample) float64 { return s.Fsync })
		r.Fsync = &fsync
	}
	if len(r.Samples) == 0 || r.Samples[0].Floor == nil {
		return
	}
	first := of(func(s failoverSample) float64 { return s.Floor.First })
	all := of(func(s failoverSample) float64 { return s.Floor.All })
	ratio := of(func(s failoverSample) float64 { return s.Total / s.Floor.All })
	r.FloorFirst, r.FloorAll, r.Ratio = &first, &all, &ratio
	if r.Signal == Docker {
		return
	}
	allowed := of(r.allowed)
	r.Allowed = &allowed
	for _, s := range r.Samples {
		if s.Total <= r.allowed(s) {
			r.Within++
		}
	}
}

// allowed returns the time to aim for in one sample. With voters it includes two writes to the
// disk, one after the other: the winner's own vote, then the votes that make a majority.
func (r FailoverReport) allowed(s failoverSample) float64 {
	if r.Voters {
		return 4*s.Floor.All + 2*s.Fsync
	}
	return s.Floor.allowed(r.Nodes)
}

// Report shows the phases and the floor, and draws every sample.
func (r FailoverReport) Report() chart.Report {
	phases, messages := distribution("milliseconds"), distribution("")
	phases.Rows = r.phases()
	messages.Rows = []chart.Row{quantiles("messages in the round", r.Messages)}
	messages.After = []string{fmt.Sprintf("%d of %d took more than one term", r.FailedRounds, len(r.Samples))}
	tables := []chart.Table{phases}
	if r.Ratio != nil {
		tables = append(tables, r.aboveFloor())
	}
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("failover: %s%s, %d nodes, profile %s, %s, %d times",
			r.Algorithm, r.voters(), r.Nodes, r.Profile, r.Signal.inWords(), done),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, ""),
		Charts: []chart.Chart{r.chart()},
		Tables: append(tables, messages),
	}
}

// aboveFloor returns the table of the floor and of the time to aim for.
func (r FailoverReport) aboveFloor() chart.Table {
	t := distribution(r.floorTitle())
	t.Rows = []chart.Row{
		quantiles("detect: end of stream at the first", *r.FloorFirst),
		quantiles("total: one message, all know", *r.FloorAll),
		quantiles("times the floor, pair by pair", *r.Ratio),
	}
	if r.Fsync != nil {
		t.Rows = append(t.Rows, quantiles("one fsync", *r.Fsync))
	}
	if r.Allowed != nil {
		t.Rows = append(t.Rows, quantiles(r.aim(), *r.Allowed))
		t.After = []string{fmt.Sprintf("  %d of %d are within it", r.Within, len(r.Samples))}
	}
	return t
}

func (r FailoverReport) phases() (rows []chart.Row) {
	add := func(name string, s Summary) { rows = append(rows, quantiles(name, s)) }
	switch r.Signal {
	case Term:
		add("signal to the winner's belief", r.sum())
		add("gap: nobody leads", r.Gap)
	case Docker:
		add("docker kill: its call to the death", *r.DockerKill)
		add("detect: death to first evidence", r.Detect)
		add("elect: to the winner's belief", r.Elect)
	default:
		add("detect: signal to first evidence", r.Detect)
		add("elect: to the winner's belief", r.Elect)
	}
	add("announce: to the last one's belief", r.Announce)
	switch {
	case r.Signal == Docker:
		add("total, from the death", r.Total)
		add("all told, from the call", *r.FromCall)
	case r.Voters:
		add("total: it leads, and all know it", r.Total)
	default:
		add("total", r.Total)
	}
	return rows
}

// The series of samples in a chart.
const (
	phaseSeries = iota
	totalSeries
	floorSeries
)

// leastMillis is the lowest value, in milliseconds, at which the axis of a chart begins: clocks and
// schedulers are not more exact.
const leastMillis = 0.01

func (r FailoverReport) chart() chart.Dots {
	c := chart.Dots{Title: "Each sample", Unit: "milliseconds", Least: leastMillis}
	add := func(label string, series int, value func(failoverSample) float64) {
		c.Rows = append(c.Rows, dots(label, series, column(r.Samples, value)))
	}
	if r.Signal == Docker {
		add("docker kill", phaseSeries, func(s failoverSample) float64 { return s.DockerKill })
	}
	if r.Signal == Term {
		add("gap: nobody leads", phaseSeries, func(s failoverSample) float64 { return s.Gap })
	} else {
		add("detect", phaseSeries, func(s failoverSample) float64 { return s.Detect })
		add("elect", phaseSeries, func(s failoverSample) float64 { return s.Elect })
	}
	add("announce", phaseSeries, func(s failoverSample) float64 { return s.Announce })
	add("total", totalSeries, func(s failoverSample) float64 { return s.Total })
	if r.Ratio != nil {
		add("floor", floorSeries, func(s failoverSample) float64 { return s.Floor.All })
	}
	return c
}

// dots makes a row of dots, one for each sample, with the median marked.
func dots(label string, series int, samples []float64) chart.DotRow {
	row := chart.DotRow{Label: label}
	for _, v := range samples {
		row.Dots = append(row.Dots, chart.Dot{Series: series, Value: v})
	}
	if len(samples) > 0 {
		s := summarize(samples)
		row.Lines = []float64{s.P50}
		row.Note = fmt.Sprintf("p50 %s, p95 %s", chart.Number(s.P50), chart.Number(s.P95))
	}
	return row
}

func (r FailoverReport) floorTitle() string {
	if r.Signal == Docker {
		return "the floor: no containers, no safety"
	}
	return "the floor: bare processes, no safety"
}

// voters returns the words of the headline that say that the nodes vote; "" if they do not vote.
func (r FailoverReport) voters() string {
	if !r.Voters {
		return ""
	}
	return fmt.Sprintf(" and the votes of all %d", r.Nodes)
}

// aim describes the time to aim for.
func (r FailoverReport) aim() string {
	if r.Voters {
		return "the aim: 4 × floor + 2 fsyncs"
	}
	if r.Samples[0].Floor.Hop > 0 {
		return fmt.Sprintf("the aim: 2 × floor + %d bare hops", 3*r.Nodes)
	}
	return "the aim: 2 × floor"
}

// sum returns the time from the signal until the winner believes that it leads.
func (r FailoverReport) sum() Summary {
	return summarize(column(r.Samples, func(s failoverSample) float64 { return s.Detect + s.Elect }))
}

// distribution returns an empty table for distributions. Its columns have headings only if it has a
// title.
func distribution(title string) chart.Table {
	names := []string{"p50", "p95", "max"}
	if title == "" {
		names = make([]string, len(names))
	}
	return chart.Table{Columns: append([]chart.Column{{Name: title, Width: -38}}, chart.Columns(9, names...)...)}
}

func quantiles(name string, s Summary) chart.Row {
	return chart.Cells(name, chart.Number(s.P50), chart.Number(s.P95), chart.Number(s.Max))
}
