package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// ScaleOptions say what to measure: a cluster of each of Sizes. Options.Nodes is ignored.
type ScaleOptions struct {
	Options
	Sizes []int
	Kills int           // failovers at each size
	Idle  time.Duration // how long the idle cluster is watched
}

// ScaleReport is the result of Scale.
type ScaleReport struct {
	Machine   Machine       `json:"machine"`
	Algorithm string        `json:"algorithm"`
	Profile   string        `json:"profile"`
	Sizes     []int         `json:"sizes"`             // those that were asked for; there may be fewer rows
	Secured   bool          `json:"secured,omitempty"` // each size with credentials, and without
	Rows      []scaleSample `json:"rows"`
}

// scaleSample is the measurement of one cluster.
type scaleSample struct {
	Nodes   int  `json:"nodes"`
	Secured bool `json:"secured,omitempty"` // the nodes have credentials
	// ColdStart is the time from before the first process was started until all nodes named the
	// same leader.
	ColdStart float64 `json:"cold_start_ms"`
	// Failover is the time from SIGKILL until all survivors named the same new leader.
	Failover Summary `json:"failover_ms"`
	// Messages is the number of messages of a round. TheoryBest and TheoryWorst are what theory
	// says for the survivors.
	Messages    Summary `json:"messages"`
	TheoryBest  int     `json:"theory_best"`
	TheoryWorst int     `json:"theory_worst"`
	// ResidentMiB, OwnMiB, CorePercent and Connections are of one node while the cluster is idle.
	ResidentMiB Summary `json:"resident_mib"`
	OwnMiB      Summary `json:"own_mib"`      // the part of it that no other process shares: RssAnon
	CorePercent Summary `json:"core_percent"` // 100 is one whole core
	Connections Summary `json:"connections"`  // established TCP connections
	// Packets is the number of packets on loopback in a second, divided by the number of nodes.
	Packets float64 `json:"loopback_packets_per_second"`
}

// Scale measures clusters of growing size. When it ends early it returns what
// it has with the error.
func Scale(ctx context.Context, o ScaleOptions) (ScaleReport, error) {
	report := ScaleReport{
		Machine: ThisMachine(), Algorithm: o.Entry.Name, Profile: o.Profile, Sizes: o.Sizes, Secured: o.Secured,
	}
	switch {
	case o.Kills < 1:
		return report, fmt.Errorf("%w: %d kills: give 1 or more", ErrOptions, o.Kills)
	case o.Idle < time.Second:
		return report, fmt.Errorf("%w: %v idle: give 1s or more", ErrOptions, o.Idle)
	case len(o.Sizes) == 0:
		return report, fmt.Errorf("%w: no sizes: give one or more", ErrOptions)
	}
	for _, o.Nodes = range o.Sizes {
		if err := o.validate(); err != nil {
			return report, err
		}
	}
	for _, o.Nodes = range o.Sizes {
		for _, one := range o.beside() {
			row, err := one.one(ctx)
			if err != nil {
				return report, fmt.Errorf("%d nodes: %w", o.Nodes, err)
			}
			report.Rows = append(report.Rows, row)
			o.progress(report.Count())
		}
	}
	return report, nil
}

// beside returns what is measured at one size: o, and the same without credentials if o has them.
func (o ScaleOptions) beside() []ScaleOptions {
	if !o.Secured {
		return []ScaleOptions{o}
	}
	plain := o
	plain.Secured = false
	return []ScaleOptions{o, plain}
}

// one measures a cluster of one size.
func (o ScaleOptions) one(ctx context.Context) (row scaleSample, err error) {
	began := time.Now()
	r, err := o.Start(false)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	row = scaleSample{
		Nodes: o.Nodes, Secured: o.Secured, TheoryBest: o.Entry.Theory.Best(o.Nodes - 1),
		TheoryWorst: o.Entry.Theory.Worst(o.Nodes - 1),
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first, err := r.WaitAgreed(bounded)
	if err != nil {
		return row, fmt.Errorf("no first leader: %w", err)
	}
	start, err := ReadElection(r.Records(), began, first, 0)
	if err != nil {
		return row, err
	}
	row.ColdStart = chart.Millis(start.Agreed.Sub(began))
	if _, _, err := r.Settle(ctx, quiet); err != nil {
		return row, fmt.Errorf("the nodes do not come to rest: %w", err)
	}
	if err := r.idle(ctx, o.Idle, &row); err != nil {
		return row, fmt.Errorf("watch the idle nodes: %w", err)
	}
	var failovers []failoverSample
	for range o.Kills {
		sample, err := r.failover(ctx, Kill)
		if err != nil {
			return row, err
		}
		failovers = append(failovers, sample)
	}
	row.Failover = summarize(column(failovers, func(s failoverSample) float64 { return s.Total }))
	row.Messages = summarize(column(failovers, func(s failoverSample) float64 {
		return float64(s.Messages)
	}))
	return row, nil
}

// idle measures what the nodes use while nothing happens for d.
func (c *Cluster) idle(ctx context.Context, d time.Duration, row *scaleSample) error {
	before := make([]time.Duration, c.options.Nodes)
	var err error
	for i, id := range c.IDs() {
		if before[i], err = cpuTime(c.PID(id)); err != nil {
			return err
		}
	}
	packets, err := loopbackPackets()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := Pause(ctx, d); err != nil {
		return err
	}
	var cpu, resident, own, links []float64
	took := time.Since(began).Seconds()
	after, err := loopbackPackets()
	if err != nil {
		return err
	}
	row.Packets = float64(after-packets) / took / float64(c.options.Nodes)
	established, err := establishedSockets()
	if err != nil {
		return err
	}
	for i, id := range c.IDs() {
		now, err := cpuTime(c.PID(id))
		if err != nil {
			return err
		}
		kib, err := procField(fmt.Sprintf("/proc/%d/status", c.PID(id)), "VmRSS", 0)
		if err != nil {
			return err
		}
		anonymous, err := procField(fmt.Sprintf("/proc/%d/status", c.PID(id)), "RssAnon", 0)
		if err != nil {
			return err
		}
		n, err := socketsIn(c.PID(id), established)
		if err != nil {
			return err
		}
		cpu = append(cpu, 100*(now-before[i]).Seconds()/took)
		resident, own = append(resident, float64(kib)/1024), append(own, float64(anonymous)/1024)
		links = append(links, float64(n))
	}
	row.CorePercent, row.ResidentMiB = summarize(cpu), summarize(resident)
	row.OwnMiB, row.Connections = summarize(own), summarize(links)
	return nil
}

// Count returns how many samples there are, and how many were asked for.
func (r ScaleReport) Count() (done, of int) {
	of = len(r.Sizes)
	if r.Secured {
		of *= 2
	}
	return len(r.Rows), of
}

// Report returns a table. It shows the median and the largest value of each figure that has several
// samples.
func (r ScaleReport) Report() chart.Report {
	t := chart.Table{Columns: []chart.Column{
		{Name: "nodes", Width: -5},
		{Name: "start ms", Width: 8},
		{Name: "failover", Width: 8},
		{Name: "max ms", Width: 8},
		{Name: "messages, theory", Width: 18},
		{Name: "RSS, MiB", Width: 10},
		{Name: "own, MiB", Width: 8},
		{Name: "CPU, %", Width: 11},
		{Name: "TCP", Width: 5},
		{Name: "packets", Width: 8},
	}, After: []string{
		"start: cold, until all agree; failover: p50; CPU: of a core, idle; packets: a second and node",
		"RSS: resident, p50-max; own: the part that no other process shares, RssAnon of Linux",
	}}
	for _, s := range r.Rows {
		nodes := fmt.Sprint(s.Nodes)
		if s.Secured {
			nodes += " TLS"
		}
		t.Rows = append(t.Rows, chart.Cells(
			nodes, chart.Number(s.ColdStart), chart.Number(s.Failover.P50),
			chart.Number(s.Failover.Max),
			fmt.Sprintf("%s, %d-%d", chart.Number(s.Messages.P50), s.TheoryBest, s.TheoryWorst),
			fmt.Sprintf("%.1f-%.1f", s.ResidentMiB.P50, s.ResidentMiB.Max),
			fmt.Sprintf("%.1f-%.1f", s.OwnMiB.P50, s.OwnMiB.Max),
			fmt.Sprintf("%.2f-%.2f", s.CorePercent.P50, s.CorePercent.Max),
			chart.Number(s.Connections.Max), chart.Number(s.Packets)))
	}
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("scale: %s, profile %s, SIGKILL to the leader", r.Algorithm, r.Profile),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, ""), Tables: []chart.Table{t},
	}
}
