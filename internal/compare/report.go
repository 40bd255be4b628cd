package compare

import (
	"fmt"
	"io"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/figures"
)

// Report is what Run measured.
type Report struct {
	Machine bench.Machine `json:"machine"`
	Nodes   int           `json:"nodes"`
	Profile string        `json:"profile"`
	Seed    uint64        `json:"seed"`
	Script  []Step        `json:"script"`
	// Partial: it ended before all was done.
	Partial bool  `json:"partial"`
	Rows    []Row `json:"rows"`
}

// Row is one algorithm, as it ran.
type Row struct {
	Algorithm string               `json:"algorithm"`
	Votes     Votes                `json:"votes"`
	Guarantee algorithms.Guarantee `json:"guarantee"`
	Samples   []Sample             `json:"samples"` // one a step, in the order of the script

	contender contender
}

// Sample is one step, times in milliseconds.
type Sample struct {
	Step Step `json:"step"`
	// Done: it was measured, or failed. Otherwise the figures say nothing.
	Done bool `json:"done"`
	// LeftOut is why it was not tried, Failed why it did not come to its end.
	LeftOut string `json:"left_out,omitempty"`
	Failed  string `json:"failed,omitempty"`

	// Detect is from the fault to the first sign of it on any other node, Elect from
	// there to the winner's own belief, Announce from there to the last one's.
	Detect   float64 `json:"detect_ms"`
	Elect    float64 `json:"elect_ms"`
	Announce float64 `json:"announce_ms"`
	// Nobody and Two are how long nobody led, and more than one did, from the fault
	// until it was undone and all agreed and were at rest.
	Nobody float64 `json:"nobody_ms"`
	Two    float64 `json:"two_leaders_ms"`
	// Messages and Bytes are of the round that replaced the leader, until all knew.
	// Bytes are of the messages' frames, as the records of the nodes tell.
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
	Terms    int `json:"terms"` // that it took
	// Refused is how many stale writes the storage refused; nil without tokens.
	// Accepted is how many it took: more than none is a fault of ours.
	Refused  *int `json:"stale_refused,omitempty"`
	Accepted int  `json:"stale_accepted"`
}

// ok reports whether there are figures.
func (s Sample) ok() bool { return s.Done && s.Failed == "" }

// plan is the report before anything is done.
func (o Options) plan() Report {
	r := Report{
		Machine: bench.ThisMachine(), Nodes: o.Nodes, Profile: o.Profile, Seed: o.Seed, Script: o.Script,
	}
	for _, c := range o.contenders() {
		row := Row{Algorithm: c.entry.Name, Votes: c.votes, Guarantee: c.guarantee(), contender: c}
		for _, step := range o.Script {
			row.Samples = append(row.Samples, Sample{Step: step, LeftOut: o.leftOut(c, step)})
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// Count is how many steps are done, and how many there are to do.
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

// Accepted is how many stale writes storages took, of all.
func (r Report) Accepted() (n int) {
	for _, row := range r.Rows {
		for _, s := range row.Samples {
			n += s.Accepted
		}
	}
	return n
}

// total sums up what of a row is comparable: the figures of the whole script. ok is
// false where a step has none.
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

// What the figures are, for whoever reads a table of them.
var legend = []string{
	"Milliseconds. votes: none, best-effort; office, all nodes vote on who is nominated; own, for a quorum",
	"of the algorithm's own. detect: fault to first sign of it on another node; elect: to the winner's",
	"belief; announce: to the last one's. nobody, two: how long no process led, and more than one, until",
	"the fault was undone and all at rest. A leader that is paused or cut off leads on, in its own belief,",
	"until its lease ends; without one, until it hears of another: so nobody may be far below detect, and",
	"two far above. messages, bytes: of the round that replaced the leader; bytes are frames, as the nodes'",
	"records tell. refused: stale writes that the storage refused; - where there are no tokens.",
}

// Text writes the report as tables, one a step.
func (r Report) Text(w io.Writer) error {
	p := printer{figures.To(w)}
	p.Line("compare: %s, profile %s, seed %d", count(r.Nodes, "node"), r.Profile, r.Seed)
	p.Line("%s", r.Machine)
	done, of := r.Count()
	p.Partial(done, of, "steps")
	p.Line("")
	for _, text := range legend {
		p.Line("%s", text)
	}
	for i, step := range r.Script {
		p.Line("")
		p.Line("%d. %s: %s", i+1, step, step.Does())
		p.Line(rowFormat, "", "votes", "detect", "elect", "announce", "nobody", "two", "messages", "bytes", "refused")
		for _, row := range r.Rows {
			p.sample(row, row.Samples[i])
		}
	}
	p.totals(r)
	return p.Err()
}

const rowFormat = "  %-12s %-6s %9s %9s %9s %9s %9s %8s %8s %7s"

// sample writes one line of a step's table.
func (p printer) sample(row Row, s Sample) {
	switch {
	case s.LeftOut != "":
		p.Line("  %-12s %-6s LEFT OUT: %s", row.Algorithm, row.Votes, s.LeftOut)
	case s.Failed != "":
		p.Line("  %-12s %-6s FAILED: %s", row.Algorithm, row.Votes, s.Failed)
	case !s.Done:
		p.Line("  %-12s %-6s not done", row.Algorithm, row.Votes)
	default:
		p.Line(rowFormat, row.Algorithm, row.Votes,
			figures.Number(s.Detect), figures.Number(s.Elect), figures.Number(s.Announce),
			figures.Number(s.Nobody), figures.Number(s.Two), fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes), s.refused())
	}
}

// totals writes the sums over the script of those who went through all of it.
func (p printer) totals(r Report) {
	if len(r.Script) < 2 {
		return
	}
	p.Line("")
	p.Line("The whole script, of those with a figure for each step")
	p.Line(rowFormat, "", "votes", "", "", "", "nobody", "two", "messages", "bytes", "refused")
	for _, row := range r.Rows {
		if s, ok := row.total(); ok {
			p.Line(rowFormat, row.Algorithm, row.Votes, "", "", "", figures.Number(s.Nobody), figures.Number(s.Two),
				fmt.Sprint(s.Messages), fmt.Sprint(s.Bytes), s.refused())
		}
	}
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

// printer writes tables of samples.
type printer struct{ *figures.Printer }
