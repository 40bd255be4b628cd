package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// FailoverOptions say what to measure.
type FailoverOptions struct {
	Options
	Kills  int
	Signal Signal
	// Against, if not empty, is the path of another ringleader executable, for example an older
	// one: Failover then measures both.
	Against string
}

func (o FailoverOptions) validate() error {
	if o.Kills < 1 {
		return fmt.Errorf("%w: %d kills: give 1 or more", ErrOptions, o.Kills)
	}
	if err := o.Options.validate(); err != nil {
		return err
	}
	if o.Secured && (o.Signal == Docker || o.Against != "") {
		return fmt.Errorf("%w: credentials are measured beside nodes of this executable without them, which are "+
			"processes: give neither another executable nor the signal %s", ErrOptions, Docker)
	}
	if o.Against != "" {
		if _, err := exec.LookPath(o.Against); err != nil {
			return fmt.Errorf("%w: to measure against %s: %w: give the path of a ringleader executable",
				ErrOptions, o.Against, err)
		}
		if o.Signal == Docker {
			return fmt.Errorf("%w: %s measures one executable, which is in its image; give another signal",
				ErrOptions, Docker)
		}
	}
	switch o.Signal {
	case Cut:
		return mayCut(o.Nodes)
	case Docker:
		return mayDocker(o.Nodes, o.Binary)
	}
	return nil
}

// departure tells when a leader was taken away.
type departure struct {
	called time.Time // just before the leader was told to go
	// gone is what the failover counts from: the death of a container's process,
	// otherwise the same as called.
	gone time.Time
}

// failoverSample is what followed after one leader was taken away. Times are in milliseconds:
// Detect counts from departure.gone, each later phase from the end of the one before.
type failoverSample struct {
	// DockerKill is the time from the call of docker kill to the death of the process. FromCall is
	// the time from the call until the last survivor believes in the new leader.
	DockerKill float64 `json:"docker_kill_ms,omitempty"`
	FromCall   float64 `json:"from_call_ms,omitempty"`
	// Detect is the time until any survivor has evidence of the loss. After docker kill it may be
	// below zero: the kernel closes a process's connections before it tells of the process's death.
	Detect   float64 `json:"detect_ms"`
	Elect    float64 `json:"elect_ms"`    // from then until the winner itself believes that it leads
	Announce float64 `json:"announce_ms"` // from then until the last survivor believes so
	Total    float64 `json:"total_ms"`    // the sum of the three, where a Detect below zero counts as zero
	// Gap is how long nobody led: from the departure, or from the old leader's own resignation,
	// until the new leader believed that it leads.
	Gap      float64 `json:"gap_ms"`
	Messages int     `json:"messages"`
	// Terms is how many terms the election took: more than one means that a round failed.
	Terms int    `json:"terms"`
	Floor *floor `json:"floor,omitempty"`
	// Fsync is how long one fsync took right afterwards. It is measured only if a leader needs
	// votes.
	Fsync float64 `json:"fsync_ms,omitempty"`
}

// Failover measures failovers of each entry, as the options say. It measures the entries in turn, a
// few samples each time, so that other work on the machine affects all entries alike. If an
// algorithm has a quorum of its own, all nodes vote, whatever the options say. If there is another
// executable to compare with, or nodes without credentials, their samples alternate with those of this one. When
// Failover ends early it returns what it has with the error.
func Failover(
	ctx context.Context, o FailoverOptions, entries []catalog.Entry,
) (table FailoverTable, err error) {
	table.Machine = ThisMachine()
	var each []FailoverOptions
	for _, e := range entries {
		one := o
		one.Entry, one.Voters = e, o.Voters || e.Guarantee != algorithms.BestEffort
		if err := one.validate(); err != nil {
			if len(entries) > 1 {
				err = fmt.Errorf("%s: %w", e.Name, err)
			}
			return table, err
		}
		each = append(each, one)
		table.Rows = append(table.Rows, one.empty())
		if o.Against == "" && !o.Secured {
			continue
		}
		row := one.empty()
		if o.Secured {
			one.Secured, row.Secured, row.Against = false, false, withoutCredentials
		} else {
			one.Binary, row.Binary, row.Against = o.Against, o.Against, o.Against
		}
		each, table.Rows = append(each, one), append(table.Rows, row)
	}
	if o.Signal == Docker {
		if o.engine, err = newEngine(o.Binary); err != nil {
			return table, err
		}
		defer func() { err = errors.Join(err, o.engine.close()) }()
		for i := range each {
			each[i].engine = o.engine
		}
	}
	progress := func() { o.progress(table.Count()) }
	for err == nil && !table.complete() {
		for i := 0; i < len(each) && err == nil; i++ {
			row := &table.Rows[i]
			if len(row.Samples) == o.Kills {
				continue
			}
			if err = each[i].oneCluster(ctx, row, progress); err != nil {
				err = fmt.Errorf("%s: %w", row.Algorithm, err)
			}
		}
	}
	for i := range table.Rows {
		table.Rows[i].summarize()
	}
	return table, err
}

// withoutCredentials is what Options.Secured is measured against.
const withoutCredentials = "nodes without credentials"

// empty returns the report before anything is measured.
func (o FailoverOptions) empty() FailoverReport {
	return FailoverReport{
		Machine: ThisMachine(), Algorithm: o.Entry.Name, Nodes: o.Nodes, Kills: o.Kills,
		Signal: o.Signal, Profile: o.Profile, Voters: o.Voters, Secured: o.Secured,
	}
}

// oneCluster takes the next few samples, on a new cluster.
func (o FailoverOptions) oneCluster(
	ctx context.Context, report *FailoverReport, progress func(),
) (err error) {
	r, err := o.Start(o.Signal == Cut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if _, _, err := r.Settle(ctx, quiet); err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	for range min(killsPerCluster, o.Kills-len(report.Samples)) {
		sample, err := r.failover(ctx, o.Signal)
		if err != nil {
			return fmt.Errorf("kill %d: %w", len(report.Samples)+1, err)
		}
		if o.Signal.ends() {
			if sample.Floor, err = o.floor(ctx); err != nil {
				return fmt.Errorf("floor %d: %w", len(report.Samples)+1, err)
			}
		}
		if o.Voters {
			if sample.Fsync, err = fsyncTime(); err != nil {
				return fmt.Errorf("fsync %d: %w", len(report.Samples)+1, err)
			}
		}
		report.Samples = append(report.Samples, sample)
		progress()
	}
	return nil
}

// failover takes the leader away, measures what follows, and brings it back.
func (c *Cluster) failover(ctx context.Context, signal Signal) (sample failoverSample, err error) {
	err = Retry(func() error {
		sample, err = c.tryFailover(ctx, signal)
		return err
	})
	return sample, err
}

// tryFailover does what failover does, but without Retry. If the fault missed the leader, it brings
// the leader back and returns an error for Retry.
func (c *Cluster) tryFailover(ctx context.Context, signal Signal) (failoverSample, error) {
	before, _, err := c.Settle(ctx, quiet)
	if err != nil {
		return failoverSample{}, fmt.Errorf("the nodes do not come to rest: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	went, err := c.takeAway(ctx, before.Leader, signal)
	if err != nil {
		return failoverSample{}, err
	}
	result, err := c.WaitAgreed(ctx, testcluster.Without(c.IDs(), before.Leader)...)
	if err != nil {
		return failoverSample{}, err
	}
	// Nodes write side by side: a sender's record may come after its receiver's.
	if err := Pause(ctx, lookAway); err != nil {
		return failoverSample{}, err
	}
	e, err := ReadElection(c.Records(), went.called, result, before.Leader)
	if errors.Is(err, errMoved) {
		return failoverSample{}, errors.Join(err, c.bringBack(ctx, before.Leader, signal))
	}
	if err != nil {
		return failoverSample{}, err
	}
	sample := went.sample(e)
	sample.Terms = int(result.Term - before.Term)
	switch signal {
	case Docker:
		sample.DockerKill = chart.Millis(went.gone.Sub(went.called))
		sample.FromCall = chart.Millis(e.Agreed.Sub(went.called))
	case Term:
		resigned, err := c.resigned(ctx, before.Leader, went.called)
		if err != nil {
			return sample, err
		}
		sample.Gap = chart.Millis(e.Won.Sub(resigned))
	}
	return sample, c.bringBack(ctx, before.Leader, signal)
}

// sample computes how long each phase of the election took that followed the departure.
func (d departure) sample(e Election) failoverSample {
	began := testcluster.Earlier(d.gone, e.Noticed)
	return failoverSample{
		Detect: chart.Millis(e.Noticed.Sub(d.gone)), Elect: chart.Millis(e.Won.Sub(e.Noticed)),
		Announce: chart.Millis(e.Agreed.Sub(e.Won)), Total: chart.Millis(e.Agreed.Sub(began)),
		Gap:      chart.Millis(e.Won.Sub(began)),
		Messages: e.Messages,
	}
}

// takeAway takes the leader away with this signal. It then reads nothing for the time lookAway,
// while the others elect. It returns the time at which the leader left.
func (c *Cluster) takeAway(ctx context.Context, leader proto.NodeID, signal Signal) (departure, error) {
	lookAway := func() { c.LookAway(ctx, lookAway) }
	at := time.Now()
	var err error
	switch signal {
	case Docker:
		c.ExpectEnd(leader)
		return c.containers.kill(ctx, leader, lookAway)
	case Cut:
		err = c.Network.Cut(leader)
	default:
		at, err = c.Send(leader, signal.number())
	}
	if err == nil {
		lookAway()
	}
	return departure{at, at}, err
}

// bringBack undoes takeAway.
func (c *Cluster) bringBack(ctx context.Context, leader proto.NodeID, signal Signal) error {
	switch signal {
	case Stop:
		return c.Resume(leader)
	case Cut:
		return c.Network.Heal(leader)
	}
	if _, err := c.WaitExit(ctx, leader); err != nil {
		return err
	}
	return c.Start(leader)
}

// resigned returns when the old leader recorded that it no longer leads.
func (c *Cluster) resigned(ctx context.Context, leader proto.NodeID, since time.Time) (
	at time.Time, err error,
) {
	err = c.Wait(ctx, func() bool {
		for _, rec := range c.Records() {
			if rec.Node == uint64(leader) && !rec.Time.Before(since) &&
				rec.LeaderChange == trace.Resigned {
				at = rec.Time
				return true
			}
		}
		return false
	})
	if err != nil {
		return at, fmt.Errorf("node %v never resigned: %w", leader, err)
	}
	return at, nil
}

// mayCut returns an error that says why a network of this many nodes cannot be cut here; nil if it
// can.
func mayCut(nodes int) error {
	if err := testcluster.MayCut(nodes); err != nil {
		return fmt.Errorf("%w: %w: or give another signal", ErrOptions, err)
	}
	return nil
}
