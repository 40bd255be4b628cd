package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/trace"
)

// FailoverOptions say what to measure.
type FailoverOptions struct {
	Options
	Kills  int
	Signal Signal
}

func (o FailoverOptions) validate() error {
	if o.Kills < 1 {
		return fmt.Errorf("%w: %d kills: give 1 or more", ErrOptions, o.Kills)
	}
	if err := o.Options.validate(); err != nil {
		return err
	}
	if o.Signal == Cut {
		return mayCut(o.Nodes)
	}
	return nil
}

// failoverSample is one leader's end, times in milliseconds after the signal
// or after the phase before.
type failoverSample struct {
	Detect   float64 `json:"detect_ms"`   // to the first evidence on any survivor
	Elect    float64 `json:"elect_ms"`    // from there to the winner's own belief
	Announce float64 `json:"announce_ms"` // from there to the last survivor's
	Total    float64 `json:"total_ms"`    // their sum
	// Gap is how long nobody led: from the signal, or from the old leader's own
	// resignation, to the winner's own belief.
	Gap      float64 `json:"gap_ms"`
	Messages int     `json:"messages"`
	// Terms is how many terms it took: more than one means that a round failed.
	Terms int    `json:"terms"`
	Floor *floor `json:"floor,omitempty"`
}

// Failover measures what FailoverOptions say. When it ends early, because ctx
// is done or something failed, it returns what it has with the error.
func Failover(ctx context.Context, o FailoverOptions) (FailoverReport, error) {
	if err := o.validate(); err != nil {
		return FailoverReport{}, err
	}
	report := FailoverReport{
		Machine: thisMachine(), Algorithm: o.Entry.Name, Nodes: o.Nodes, Kills: o.Kills,
		Signal: o.Signal, Profile: o.Profile,
	}
	var err error
	for err == nil && len(report.Samples) < o.Kills {
		err = o.oneCluster(ctx, &report)
	}
	report.summarize()
	return report, err
}

// oneCluster takes the next few samples on a fresh cluster.
func (o FailoverOptions) oneCluster(ctx context.Context, report *FailoverReport) (err error) {
	r, err := o.start(o.Signal == Cut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if _, err := r.settle(ctx); err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	for range min(killsPerCluster, o.Kills-len(report.Samples)) {
		sample, err := r.failover(ctx, o.Signal)
		if err != nil {
			return fmt.Errorf("kill %d: %w", len(report.Samples)+1, err)
		}
		if o.Signal == Kill { // the only one with a floor: nothing else ends streams
			if sample.Floor, err = o.floor(ctx); err != nil {
				return fmt.Errorf("floor %d: %w", len(report.Samples)+1, err)
			}
		}
		report.Samples = append(report.Samples, sample)
		o.progress(len(report.Samples), o.Kills)
	}
	return nil
}

// failover takes the leader away, measures what follows, and brings it back.
func (r *rig) failover(ctx context.Context, signal Signal) (failoverSample, error) {
	before, err := r.settle(ctx)
	if err != nil {
		return failoverSample{}, fmt.Errorf("the nodes do not come to rest: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	at, err := r.takeAway(before.Leader, signal)
	if err != nil {
		return failoverSample{}, err
	}
	r.LookAway(ctx, lookAway)
	result, err := r.WaitAgreed(ctx, without(r.ids(), before.Leader)...)
	if err != nil {
		return failoverSample{}, err
	}
	// Nodes write side by side: a sender's record may come after its receiver's.
	if err := pause(ctx, lookAway); err != nil {
		return failoverSample{}, err
	}
	e, err := readElection(r.Records(), at, result, before.Leader)
	if err != nil {
		return failoverSample{}, err
	}
	sample := failoverSample{
		Detect: ms(e.noticed.Sub(at)), Elect: ms(e.won.Sub(e.noticed)), Announce: ms(e.agreed.Sub(e.won)),
		Total: ms(e.agreed.Sub(at)), Gap: ms(e.won.Sub(at)),
		Messages: e.messages, Terms: int(result.Term - before.Term),
	}
	if signal == Term {
		resigned, err := r.resigned(ctx, before.Leader, at)
		if err != nil {
			return sample, err
		}
		sample.Gap = ms(e.won.Sub(resigned))
	}
	return sample, r.bringBack(ctx, before.Leader, signal)
}

// takeAway ends the leader's leadership and returns the instant just before.
func (r *rig) takeAway(leader proto.NodeID, signal Signal) (time.Time, error) {
	if signal == Cut {
		at := time.Now()
		return at, r.network.cut(leader)
	}
	return r.Send(leader, signal.number())
}

// bringBack undoes takeAway.
func (r *rig) bringBack(ctx context.Context, leader proto.NodeID, signal Signal) error {
	switch signal {
	case Stop:
		return r.Resume(leader)
	case Cut:
		return r.network.heal(leader)
	}
	if _, err := r.WaitExit(ctx, leader); err != nil {
		return err
	}
	return r.Start(leader)
}

// resigned is when the old leader said that it no longer leads.
func (r *rig) resigned(ctx context.Context, leader proto.NodeID, since time.Time) (
	at time.Time, err error,
) {
	err = r.Wait(ctx, func() bool {
		for _, rec := range r.Records() {
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
