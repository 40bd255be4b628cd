package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// Report is the result of Run.
type Report struct {
	Machine bench.Machine `json:"machine"`
	Nodes   int           `json:"nodes"`
	Profile string        `json:"profile"`
	Seed    uint64        `json:"seed"`
	Script  []Step        `json:"script"`
	// Partial says that Run ended before all steps were done.
	Partial bool  `json:"partial"`
	Rows    []Row `json:"rows"`
}

// Row is the result of one contender.
type Row struct {
	Algorithm string               `json:"algorithm"`
	Votes     Votes                `json:"votes"`
	Store     string               `json:"store,omitempty"` // the kind of the store on which leadership stands
	Guarantee algorithms.Guarantee `json:"guarantee"`
	Samples   []Sample             `json:"samples"` // one for each step, in the order of the script

	contender contender
}

// Sample is the measurement of one step of the script; its times are in milliseconds.
type Sample struct {
	Step Step `json:"step"`
	// Done says that the step was measured, or that it failed. Otherwise the figures mean nothing.
	Done bool `json:"done"`
	// LeftOut says why the step was not tried, Failed why it was not completed.
	LeftOut string `json:"left_out,omitempty"`
	Failed  string `json:"failed,omitempty"`

	// Detect is the time from the fault to the first sign of it on any other node. Elect is from
	// then until the winner believes that it leads, Announce from then until the last node does.
	Detect   float64 `json:"detect_ms"`
	Elect    float64 `json:"elect_ms"`
	Announce float64 `json:"announce_ms"`
	// Nobody is how long no node led, and Two how long more than one did, from the fault until it
	// was undone and all nodes agreed and were at rest.
	Nobody float64 `json:"nobody_ms"`
	Two    float64 `json:"two_leaders_ms"`
	// Messages and Bytes count what was sent in the round that replaced the leader, until all nodes
	// knew the new one. Bytes is the size of the messages' frames, as the nodes recorded it.
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
	Terms    int `json:"terms"` // how many terms the election took
	// Refused is how many stale writes the storage refused; nil without tokens. Accepted is how
	// many it accepted: any such write is a fault of this project.
	Refused  *int `json:"stale_refused,omitempty"`
	Accepted int  `json:"stale_accepted"`
}

// ok reports whether there are figures.
func (s Sample) ok() bool { return s.Done && s.Failed == "" }

// plan returns the report before the first step.
func (o Options) plan() Report {
	r := Report{
		Machine: bench.ThisMachine(), Nodes: o.Nodes, Profile: o.Profile, Seed: o.Seed, Script: o.Script,
	}
	for _, c := range o.contenders() {
		row := Row{Algorithm: c.entry.Name, Votes: c.votes, Store: c.store, Guarantee: c.guarantee(), contender: c}
		for _, step := range o.Script {
			row.Samples = append(row.Samples, Sample{Step: step, LeftOut: o.leftOut(c, step)})
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// Count returns how many steps are done, and how many are planned.
func (r Report) Count() (done, of int) {
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			if s.LeftOut == "" {
				of++
			}
			if s.Done {
				done++
			}
		}
	}
	return done, of
}

// Accepted returns how many stale writes the storages accepted in all steps.
func (r Report) Accepted() (n int) {
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			n += s.Accepted
		}
	}
	return n
}

// total sums up the figures of a row over the whole script. ok is false if a step has no figures.
func (row Row) total() (sum Sample, ok bool) {
	for _, s := range row.Samples {
		if !s.ok() {
			return sum, false
		}
		sum.Nobody += s.Nobody
		sum.Two += s.Two
		sum.Messages += s.Messages
		sum.Bytes += s.Bytes
		sum.Terms += s.Terms
		if s.Refused != nil {
			if sum.Refused == nil {
				sum.Refused = new(int)
			}
			*sum.Refused += *s.Refused
		}
	}
	return sum, true
}

// legend explains the figures to people who read a table of them.
var legend = []string{
	"Milliseconds. votes: none, best-effort; all, each node votes on who is nominated; own, for a quorum",
	"of the algorithm's own; or the store on which leadership stands. detect: fault to first sign of it on",
	"another node; elect: to the winner's belief; announce: to the last one's. nobody, two: how long no",
	"process led, and more than one, until the fault was undone and all at rest. A leader that is paused or",
	"cut off leads on, in its own belief, until its lease ends; without one, until it hears of another: so",
	"nobody may be far below detect, and two far above. The workers borrow the leader's lease: of one that",
	"is killed meanwhile it runs on. messages, bytes: of the round that replaced the leader, without those",
	"of a store; bytes are frames, as the nodes' records tell. refused: stale writes that the storage",
	"refused; - where there are no tokens.",
}

// Report returns a report with a table for each step, and one for the whole script.
func (r Report) Report() chart.Report {
	done, of := r.Count()
	report := chart.Report{
		Title: fmt.Sprintf("compare: %s, profile %s, seed %d", words.Plural(r.Nodes, "node"), r.Profile, r.Seed),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, "steps"), Legend: legend,
	}
	for _, s := range r.kinds() {
		report.Key = append(report.Key, string(s))
	}
	for _, f := range drawn {
		report.Charts = append(report.Charts, r.chart(f))
	}
	for i, step := range r.Script {
		t := chart.Table{Title: fmt.Sprintf("%d. %s", i+1, step), Note: step.Does(), Columns: columns(true)}
		for _, row := range r.Rows {
			t.Rows = append(t.Rows, row.Samples[i].row(row))
		}
		report.Tables = append(report.Tables, t)
	}
	if len(r.Script) > 1 {
		report.Tables = append(report.Tables, r.totals())
	}
	return report
}

// columns returns the columns of a table, with or without the phases of an election.
func columns(phases bool) []chart.Column {
	all := []chart.Column{{Width: -12}, {Name: "votes", Width: -9}}
	if phases {
		all = append(all, chart.Columns(9, "detect", "elect", "announce")...)
	} else {
		all = append(all, chart.Column{Name: "guarantee", Width: -29})
	}
	all = append(all, chart.Columns(9, "nobody", "two")...)
	return append(all, append(chart.Columns(8, "messages", "bytes"), chart.Column{Name: "refused", Width: 7})...)
}

// row returns the line of this sample in the table of its step.
func (s Sample) row(of Row) chart.Row {
	row := chart.Cells(of.Algorithm, of.standsOn())
	switch {
	case s.LeftOut != "":
		row.Remark = "LEFT OUT: " + s.LeftOut
	case s.Failed != "":
		row.Remark = "FAILED: " + s.Failed
	case !s.Done:
		row.Remark = "not done"
	default:
		row.Cells = append(row.Cells, chart.Number(s.Detect), chart.Number(s.Elect), chart.Number(s.Announce))
		row.Cells = append(row.Cells, s.sums()...)
	}
	return row
}

// sums returns the cells of the figures that can be summed up over a script.
func (s Sample) sums() []string {
	return []string{
		chart.Number(s.Nobody), chart.Number(s.Two), fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes), s.refused(),
	}
}

// totals returns the table of the sums over the whole script, for contenders that have figures for
// all steps.
func (r Report) totals() chart.Table {
	t := chart.Table{Title: "The whole script, of those with a figure for each step", Columns: columns(false)}
	for _, row := range r.Rows {
		if s, ok := row.total(); ok {
			cells := append([]string{row.Algorithm, row.standsOn(), string(row.Guarantee)}, s.sums()...)
			t.Rows = append(t.Rows, chart.Cells(cells...))
		}
	}
	return t
}

func (s Sample) refused() string {
	if s.Refused == nil {
		return "-"
	}
	if s.Accepted > 0 {
		return fmt.Sprintf("%d, %d TAKEN", *s.Refused, s.Accepted)
	}
	return fmt.Sprint(*s.Refused)
}

// figure is a figure of a sample that a chart shows.
type figure struct {
	title, unit string
	least       float64
	of          func(Sample) float64
}

// drawn lists the charts of a page.
var drawn = []figure{
	{"Time without a leader", "milliseconds", 0.1, func(s Sample) float64 { return s.Nobody }},
	{"Time with two leaders", "milliseconds", 0.1, func(s Sample) float64 { return s.Two }},
	{"Fault to all know the next leader", "milliseconds", 0.1, func(s Sample) float64 {
		return s.Detect + s.Elect + s.Announce
	}},
	{"Messages in the round", "messages", 1, func(s Sample) float64 { return float64(s.Messages) }},
	{"Bytes in the round", "bytes", 1, func(s Sample) float64 { return float64(s.Bytes) }},
}

// chart draws a row for each contender, and a series for each kind of step.
func (r Report) chart(f figure) chart.Dots {
	c := chart.Dots{Title: f.title, Unit: f.unit, Least: f.least}
	for _, row := range r.Rows {
		line := chart.DotRow{Label: row.name()}
		for _, s := range row.Samples {
			if s.ok() {
				line.Dots = append(line.Dots, chart.Dot{
					Series: slices.Index(r.kinds(), s.Step), Value: f.of(s), Name: row.name() + ", " + string(s.Step),
				})
			}
		}
		c.Rows = append(c.Rows, line)
	}
	return c
}

// kinds returns the steps of the script without repetitions, in the order of Steps.
func (r Report) kinds() []Step {
	return slices.DeleteFunc(Steps(), func(s Step) bool { return !slices.Contains(r.Script, s) })
}

// standsOn returns what the contender's leadership stands on: votes or a store.
func (row Row) standsOn() string { return cmp.Or(row.Store, string(row.Votes)) }

// name returns the contender's name in a chart.
func (row Row) name() string {
	switch {
	case row.Store != "":
		return row.Algorithm + ", " + row.Store
	case row.Votes == All:
		return row.Algorithm + ", voted"
	case row.Votes == Own:
		return row.Algorithm + ", own quorum"
	}
	return row.Algorithm
}
