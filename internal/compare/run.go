package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// ErrFailed says that steps did not come to their end.
var ErrFailed = errors.New("steps failed")

// Run does the script to every contender. When it ends early, because ctx is done, it
// returns what it has with the error; a step that does not come to its end is in the
// report with the reason, the others go on, and the error wraps ErrFailed.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	report := o.plan()
	failed := 0
	for i := range report.Rows {
		row := &report.Rows[i]
		for j := range row.Samples {
			sample := &row.Samples[j]
			if sample.LeftOut != "" {
				continue
			}
			err := o.try(ctx, row.contender, draw(o.Seed, j, o.Nodes), sample)
			if ctx.Err() != nil {
				*sample = Sample{Step: sample.Step}
				report.Partial = true
				return report, errors.Join(context.Cause(ctx), closing(err))
			}
			if err != nil {
				*sample = Sample{Step: sample.Step, Failed: err.Error()}
				failed++
			}
			sample.Done = true
			if o.Progress != nil {
				o.Progress(report.Count())
			}
		}
	}
	if failed > 0 {
		_, of := report.Count()
		return report, fmt.Errorf("%w: %d of %d", ErrFailed, failed, of)
	}
	return report, nil
}

// errLeft: something that was started may be left.
var errLeft = errors.New("clean up")

// closing is what of err says that something may be left.
func closing(err error) error {
	if errors.Is(err, errLeft) {
		return err
	}
	return nil
}

// errMoved: the fault struck another node than the leader.
var errMoved = errors.New("another node came to lead by itself just before the fault")

// tries is how often a step is done at most.
const tries = 3

// try measures a step. One that missed the leader measured nothing, and is done again:
// on a machine with other work to do, nodes that hear nothing for long elect.
func (o Options) try(ctx context.Context, c contender, f fate, sample *Sample) (err error) {
	for range tries {
		if err = o.measure(ctx, c, f, sample); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// measure does one step to a cluster of its own.
func (o Options) measure(ctx context.Context, c contender, f fate, sample *Sample) (err error) {
	s, err := o.build(c, sample.Step == Cut)
	if err != nil {
		return err
	}
	defer func() {
		if left := s.close(); left != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errLeft, left))
		}
	}()
	before, err := s.rest(ctx, f.wait)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done, err := s.befall(bounded, sample.Step, before.Leader, f)
	if err != nil {
		return err
	}
	result, err := s.WaitAgreed(bounded, done.rest...)
	if err != nil {
		return fmt.Errorf("nobody took over: %w", err)
	}
	// Nodes write side by side: a sender's record may come after its receiver's.
	if err := bench.Pause(bounded, lookAway); err != nil {
		return err
	}
	records := done.heard(s.Records())
	if knownBefore(records, result, done.began) {
		return errMoved
	}
	e, err := bench.ReadElection(records, done.began, result, done.lost)
	if err != nil {
		return err
	}
	if done.undo != nil {
		if err := done.undo(bounded); err != nil {
			return fmt.Errorf("undo it: %w", err)
		}
	}
	_, end, err := s.Settle(ctx, quiet)
	if err != nil {
		return fmt.Errorf("the nodes do not come to rest again: %w", err)
	}
	sample.read(e, done.began)
	sample.Terms = int(result.Term - before.Term)
	nobody, two := Led(s.Records(), s.deaths, done.began, end)
	sample.Nobody, sample.Two = chart.Millis(nobody), chart.Millis(two)
	return s.count(sample)
}

// knownBefore reports whether a node believed in b before an instant.
func knownBefore(records []trace.Record, b testcluster.Belief, at time.Time) bool {
	return slices.ContainsFunc(records, func(rec trace.Record) bool {
		return rec.Time.Before(at) && rec.Leader == uint64(b.Leader) && rec.LeaderTerm() == uint64(b.Term)
	})
}

// read takes over the phases of an election.
func (s *Sample) read(e bench.Election, began time.Time) {
	noticed := later(e.Noticed, began)
	s.Detect, s.Elect = chart.Millis(noticed.Sub(began)), chart.Millis(e.Won.Sub(noticed))
	s.Announce = chart.Millis(e.Agreed.Sub(e.Won))
	s.Messages, s.Bytes = e.Messages, e.Bytes
}

// searchTime bounds the judge, who here is only asked for stale writes.
const searchTime = time.Second

// count ends the workers, and counts what came of their writes.
func (s *cluster) count(sample *Sample) error {
	calls, err := s.workers.Finish()
	if err != nil {
		return fmt.Errorf("end the workers: %w", err)
	}
	if s.votes == Nobody {
		return nil
	}
	refused := 0
	for _, c := range calls {
		if c.Kind == history.Put && c.Outcome == history.Stale {
			refused++
		}
	}
	sample.Refused, sample.Accepted = &refused, history.Check(calls, searchTime).Stale
	return nil
}
