package bench

import (
	"fmt"
	"io"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

// FailoverReport is what Failover measured.
type FailoverReport struct {
	Machine   Machine `json:"machine"`
	Algorithm string  `json:"algorithm"`
	// Binary is the other executable, where this is of it.
	Binary  string `json:"binary,omitempty"`
	Nodes   int    `json:"nodes"`
	Kills   int    `json:"kills"` // asked for; there may be fewer samples
	Signal  Signal `json:"signal"`
	Profile string `json:"profile"`
	Office  bool   `json:"office"`

	// DockerKill is Docker's own part, before the failover; FromCall is both. Nil
	// without Docker.
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

	// The floor and how far above it the nodes are, pair by pair. Nil without
	// a floor.
	FloorFirst *Summary `json:"floor_first_ms,omitempty"`
	FloorAll   *Summary `json:"floor_all_ms,omitempty"`
	Ratio      *Summary `json:"ratio,omitempty"`
	// Allowed is the aim: twice the floor, on a ring and 3 hops for each node; with
	// an office four times the floor and two fsyncs. Containers have
	// none: the floor is of processes without.
	Allowed *Summary `json:"allowed_ms,omitempty"`
	Within  int      `json:"within_allowed"` // samples that reach the aim
	Fsync   *Summary `json:"fsync_ms,omitempty"`

	Samples []failoverSample `json:"samples"`
}

// Count is how many samples there are, and how many were asked for.
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
	if r.Office {
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

// allowed is the aim for one sample. The office's two fsyncs are the votes: the
// winner's own before it claims the term, and those that make it a majority.
func (r FailoverReport) allowed(s failoverSample) float64 {
	if r.Office {
		return 4*s.Floor.All + 2*s.Fsync
	}
	return s.Floor.allowed(r.Nodes)
}

// Text writes the report as a table.
func (r FailoverReport) Text(w io.Writer) error {
	p := printer{figures.To(w)}
	p.Line("failover: %s%s, %d nodes, profile %s, %s, %d times",
		r.Algorithm, r.office(), r.Nodes, r.Profile, r.Signal.inWords(), len(r.Samples))
	p.Line("%s", r.Machine)
	p.partial(r.Count())
	p.Line("")
	p.head("milliseconds")
	r.phases(p)
	if r.Ratio != nil {
		p.Line("")
		p.head(r.floorTitle())
		p.row("detect: end of stream at the first", *r.FloorFirst)
		p.row("total: one message, all know", *r.FloorAll)
		p.row("times the floor, pair by pair", *r.Ratio)
		if r.Fsync != nil {
			p.row("one fsync", *r.Fsync)
		}
	}
	if r.Allowed != nil {
		p.row(r.aim(), *r.Allowed)
		p.Line("  %d of %d are within it", r.Within, len(r.Samples))
	}
	p.Line("")
	p.row("messages in the round", r.Messages)
	p.Line("%d of %d took more than one term", r.FailedRounds, len(r.Samples))
	return p.Err()
}

func (r FailoverReport) phases(p printer) {
	switch r.Signal {
	case Term:
		p.row("signal to the winner's belief", r.sum())
		p.row("gap: nobody leads", r.Gap)
	case Docker:
		p.row("docker kill: its call to the death", *r.DockerKill)
		p.row("detect: death to first evidence", r.Detect)
		p.row("elect: to the winner's belief", r.Elect)
	default:
		p.row("detect: signal to first evidence", r.Detect)
		p.row("elect: to the winner's belief", r.Elect)
	}
	p.row("announce: to the last one's belief", r.Announce)
	switch {
	case r.Signal == Docker:
		p.row("total, from the death", r.Total)
		p.row("all told, from the call", *r.FromCall)
	case r.Office:
		p.row("total: in office and known to all", r.Total)
	default:
		p.row("total", r.Total)
	}
}

func (r FailoverReport) floorTitle() string {
	if r.Signal == Docker {
		return "the floor: no containers, no safety"
	}
	return "the floor: bare processes, no safety"
}

// office says in the headline that there is one.
func (r FailoverReport) office() string {
	if !r.Office {
		return ""
	}
	return fmt.Sprintf(" and the votes of all %d", r.Nodes)
}

// aim is the target in words.
func (r FailoverReport) aim() string {
	if r.Office {
		return "the aim: 4 × floor + 2 fsyncs"
	}
	if r.Samples[0].Floor.Hop > 0 {
		return fmt.Sprintf("the aim: 2 × floor + %d bare hops", 3*r.Nodes)
	}
	return "the aim: 2 × floor"
}

// sum is the time from the signal to the winner's belief.
func (r FailoverReport) sum() Summary {
	return summarize(column(r.Samples, func(s failoverSample) float64 { return s.Detect + s.Elect }))
}

// printer writes tables of distributions.
type printer struct{ *figures.Printer }

// partial marks a table that is not what was asked for.
func (p printer) partial(done, of int) { p.Partial(done, of, "") }

func (p printer) head(title string) {
	p.Line("%-40s %9s %9s %9s", title, "p50", "p95", "max")
}

func (p printer) row(name string, s Summary) {
	p.Line("  %-38s %9s %9s %9s", name, figures.Number(s.P50), figures.Number(s.P95), figures.Number(s.Max))
}
