package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

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
	// Against, if not empty, is another ringleader executable, an older one say:
	// FailoverAll then measures both.
	Against string
}

func (o FailoverOptions) validate() error {
	if o.Kills < 1 {
		return fmt.Errorf("%w: %d kills: give 1 or more", ErrOptions, o.Kills)
	}
	if err := o.Options.validate(); err != nil {
		return err
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

// departure is how a leader went.
type departure struct {
	called time.Time // the instant before it was told to go
	// gone is what the failover counts from: the death of a container's process,
	// otherwise the same as called.
	gone time.Time
}

// failoverSample is one leader's end, times in milliseconds after it went, see
// departure, or after the phase before.
type failoverSample struct {
	// DockerKill is from the call of docker kill to the death of the process,
	// FromCall from there to the last survivor's belief.
	DockerKill float64 `json:"docker_kill_ms,omitempty"`
	FromCall   float64 `json:"from_call_ms,omitempty"`
	// Detect is to the first evidence on any survivor. After docker kill it may be
	// below zero: the kernel closes a process's connections, then tells of its death.
	Detect   float64 `json:"detect_ms"`
	Elect    float64 `json:"elect_ms"`    // from there to the winner's own belief
	Announce float64 `json:"announce_ms"` // from there to the last survivor's
	Total    float64 `json:"total_ms"`    // their sum, without a Detect below zero
	// Gap is how long nobody led: of Total, the time to the winner's own belief,
	// but from the old leader's own resignation where it resigned.
	Gap      float64 `json:"gap_ms"`
	Messages int     `json:"messages"`
	// Terms is how many terms it took: more than one means that a round failed.
	Terms int    `json:"terms"`
	Floor *floor `json:"floor,omitempty"`
	// Fsync is what one fsync took right after, where a leader needs votes.
	Fsync float64 `json:"fsync_ms,omitempty"`
}

// Failover measures what FailoverOptions say. When it ends early, because ctx
// is done or something failed, it returns what it has with the error.
func Failover(ctx context.Context, o FailoverOptions) (FailoverReport, error) {
	if err := o.validate(); err != nil {
		return FailoverReport{}, err
	}
	report := o.empty()
	var err error
	if o.Signal == Docker {
		if o.engine, err = newEngine(o.Binary); err != nil {
			return report, err
		}
	}
	for err == nil && len(report.Samples) < o.Kills {
		err = o.oneCluster(ctx, &report)
	}
	report.summarize()
	return report, errors.Join(err, o.engine.close())
}

// empty is the report before anything is measured.
func (o FailoverOptions) empty() FailoverReport {
	return FailoverReport{
		Machine: ThisMachine(), Algorithm: o.Entry.Name, Nodes: o.Nodes, Kills: o.Kills,
		Signal: o.Signal, Profile: o.Profile, Office: o.Office,
	}
}

// oneCluster takes the next few samples on a fresh cluster.
func (o FailoverOptions) oneCluster(ctx context.Context, report *FailoverReport) (err error) {
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
		if o.Office {
			if sample.Fsync, err = fsyncTime(); err != nil {
				return fmt.Errorf("fsync %d: %w", len(report.Samples)+1, err)
			}
		}
		report.Samples = append(report.Samples, sample)
		o.progress(len(report.Samples), o.Kills)
	}
	return nil
}

// failover takes the leader away, measures what follows, and brings it back.
func (c *Cluster) failover(ctx context.Context, signal Signal) (failoverSample, error) {
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
	result, err := c.WaitAgreed(ctx, without(c.IDs(), before.Leader)...)
	if err != nil {
		return failoverSample{}, err
	}
	// Nodes write side by side: a sender's record may come after its receiver's.
	if err := Pause(ctx, lookAway); err != nil {
		return failoverSample{}, err
	}
	e, err := ReadElection(c.Records(), went.called, result, before.Leader)
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

// sample is how long the phases of what followed took.
func (d departure) sample(e Election) failoverSample {
	began := earlier(d.gone, e.Noticed)
	return failoverSample{
		Detect: chart.Millis(e.Noticed.Sub(d.gone)), Elect: chart.Millis(e.Won.Sub(e.Noticed)),
		Announce: chart.Millis(e.Agreed.Sub(e.Won)), Total: chart.Millis(e.Agreed.Sub(began)),
		Gap:      chart.Millis(e.Won.Sub(began)),
		Messages: e.Messages,
	}
}

// takeAway ends the leader's leadership, looks away while the others see to it,
// and returns when it was.
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

// resigned is when the old leader said that it no longer leads.
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

// mayCut says why a network of that many nodes cannot be cut here.
func mayCut(nodes int) error {
	if err := testcluster.MayCut(nodes); err != nil {
		return fmt.Errorf("%w: %w: or give another signal", ErrOptions, err)
	}
	return nil
}
