package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// HopOptions say what to measure: how long a message takes round the ring, Trips times.
type HopOptions struct {
	Options
	Trips int
}

// hopSample is one trip of each kind round the same number of processes, in milliseconds.
type hopSample struct {
	Election float64 `json:"election_ms"` // an ELECTION that brings a new term to each node
	Elected  float64 `json:"elected_ms"`
	Relay    float64 `json:"relay_ms"` // raw bytes, passed on by bare processes
}

// HopReport is the result of Hop. A trip has as many hops as there are nodes.
type HopReport struct {
	Machine Machine `json:"machine"`
	Nodes   int     `json:"nodes"`
	Trips   int     `json:"trips"` // how many were asked for; there may be fewer samples
	Profile string  `json:"profile"`

	Election Summary `json:"election_ms"`
	Elected  Summary `json:"elected_ms"`
	Relay    Summary `json:"relay_ms"`
	Ratio    Summary `json:"elected_to_relay"` // of Elected to Relay, sample by sample

	Samples []hopSample `json:"samples"`
}

// Hop measures trips round the ring. The highest node is killed and comes back;
// it then calls an election of its own, alone, on a ring that is at rest. When
// it ends early it returns what it has with the error.
func Hop(ctx context.Context, o HopOptions) (report HopReport, err error) {
	if o.Trips < 1 {
		return report, fmt.Errorf("%w: %d trips: give 1 or more", ErrOptions, o.Trips)
	}
	if err := o.validate(); err != nil {
		return report, err
	}
	o.Args, o.Entry.Preempt = append(o.Args, "--preempt"), true
	report = HopReport{Machine: ThisMachine(), Nodes: o.Nodes, Trips: o.Trips, Profile: o.Profile}
	defer func() { report.summarize() }()
	relay, err := startBare(ctx, roleRelay, o.Nodes)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, relay.close()) }()
	for err == nil && len(report.Samples) < o.Trips {
		err = o.oneCluster(ctx, relay, &report)
	}
	return report, err
}

// oneCluster takes the next few samples, on a new cluster.
func (o HopOptions) oneCluster(
	ctx context.Context, relay *bareGroup, report *HopReport,
) (err error) {
	r, err := o.Start(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for range min(killsPerCluster, o.Trips-len(report.Samples)) {
		sample, err := r.trip(ctx)
		if err != nil {
			return fmt.Errorf("trip %d: %w", len(report.Samples)+1, err)
		}
		if sample.Relay, err = relay.trip(ctx); err != nil {
			return fmt.Errorf("trip %d of the relay: %w", len(report.Samples)+1, err)
		}
		report.Samples = append(report.Samples, sample)
		o.progress(len(report.Samples), o.Trips)
	}
	return nil
}

// trip brings the highest node back, lets it win, and reads from its records how long its messages
// took round the ring.
func (c *Cluster) trip(ctx context.Context) (hopSample, error) {
	before, _, err := c.Settle(ctx, quiet)
	if err != nil {
		return hopSample{}, fmt.Errorf("the nodes do not come to rest: %w", err)
	}
	at, err := c.Kill(before.Leader)
	if err != nil {
		return hopSample{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := c.WaitAgreed(bounded, testcluster.Without(c.IDs(), before.Leader)...); err != nil {
		return hopSample{}, err
	}
	if err := c.Start(before.Leader); err != nil {
		return hopSample{}, err
	}
	result, _, err := c.Settle(ctx, quiet)
	if err != nil {
		return hopSample{}, err
	}
	return c.readTrip(bounded, at, result)
}

// readTrip reads three times from the winner's records: when it sent ELECTION, when that came back,
// and when its ELECTED came back.
func (c *Cluster) readTrip(ctx context.Context, since time.Time, result testcluster.Belief) (
	s hopSample, err error,
) {
	err = c.Wait(ctx, func() bool {
		var sent, won, home time.Time
		for _, rec := range c.Records() {
			if rec.Node != uint64(result.Leader) || rec.Term != uint64(result.Term) ||
				rec.Time.Before(since) {
				continue
			}
			switch {
			case rec.Leader == 0 && sent.IsZero() && len(rec.Sent) > 0:
				sent = rec.Time
			case rec.Leader == rec.Node && won.IsZero():
				won = rec.Time
			case rec.Msg == topology.KindElected.String() && home.IsZero():
				home = rec.Time
			}
		}
		s.Election, s.Elected = chart.Millis(won.Sub(sent)), chart.Millis(home.Sub(won))
		return !sent.IsZero() && !home.IsZero()
	})
	if err != nil {
		return s, fmt.Errorf("no round of ELECTION and ELECTED in the records of node %v: %w",
			result.Leader, err)
	}
	return s, nil
}

// trip sends one message round the ring of bare processes, and returns how long that took, in
// milliseconds.
func (g *bareGroup) trip(ctx context.Context) (float64, error) {
	if err := g.members[0].Tell("go"); err != nil {
		return 0, err
	}
	s, err := g.await(ctx, "trip")
	return chart.Millis(time.Duration(s.nanoseconds)), err
}

// Count returns how many samples there are, and how many were asked for.
func (r HopReport) Count() (done, of int) { return len(r.Samples), r.Trips }

func (r *HopReport) summarize() {
	r.Election = summarize(column(r.Samples, func(s hopSample) float64 { return s.Election }))
	r.Elected = summarize(column(r.Samples, func(s hopSample) float64 { return s.Elected }))
	r.Relay = summarize(column(r.Samples, func(s hopSample) float64 { return s.Relay }))
	r.Ratio = summarize(column(r.Samples, func(s hopSample) float64 { return s.Elected / s.Relay }))
}

// Report shows the times of a trip, and of one hop of it.
func (r HopReport) Report() chart.Report {
	trips, ratio := distribution("milliseconds"), distribution("")
	trips.Rows = []chart.Row{
		quantiles("ELECTION", r.Election),
		quantiles("ELECTED", r.Elected),
		quantiles("the same bytes, bare processes", r.Relay),
		quantiles("one hop of ELECTED", r.Elected.over(r.Nodes)),
		quantiles("one hop, bare processes", r.Relay.over(r.Nodes)),
	}
	ratio.Rows = []chart.Row{quantiles("ELECTED, times the bare trip", r.Ratio)}
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("hop: once round a ring of %d nodes, profile %s, %d times", r.Nodes, r.Profile, done),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, ""),
		Tables: []chart.Table{trips, ratio},
	}
}
