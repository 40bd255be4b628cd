package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// ErrFailed says that some steps were not completed.
var ErrFailed = errors.New("steps failed")

// Run does the script with every contender. A step that cannot be completed is in the report with
// the reason; Run goes on with the others, and its error wraps ErrFailed. When ctx is done, Run
// returns what it has with the error.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	if o.dir, err = os.MkdirTemp("", "ringleader-compare-"); err != nil {
		return Report{}, fmt.Errorf("make a directory for the storages: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if o.stores, err = startStores(ctx, o.Stores); err != nil {
		return Report{}, errors.Join(err, o.stores.close())
	}
	defer func() { err = errors.Join(err, o.stores.close()) }()
	if err := o.validate(); err != nil { // a store may be missing
		return Report{}, err
	}
	report = o.plan()
	failed := 0
	for i := range report.Rows {
		row := &report.Rows[i]
		for j := range row.Samples {
			sample := &row.Samples[j]
			if sample.LeftOut != "" {
				continue
			}
			err := bench.Retry(func() error {
				return o.measure(ctx, row.contender, draw(o.Seed, j, o.Nodes), sample)
			})
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

// errLeft says that something that was started could not be removed.
var errLeft = errors.New("clean up")

// closing returns err if it says that something could not be removed, otherwise nil.
func closing(err error) error {
	if errors.Is(err, errLeft) {
		return err
	}
	return nil
}

// measure does one step with a cluster that is made for it.
func (o Options) measure(ctx context.Context, c contender, f chances, sample *Sample) (err error) {
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
	done, err := s.inflict(bounded, sample.Step, before.Leader, f)
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
	e, err := bench.ReadElection(done.heard(s.Records()), done.began, result, done.lost)
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

// read sets the sample's figures of the election.
func (s *Sample) read(e bench.Election, began time.Time) {
	noticed := testcluster.Later(e.Noticed, began)
	s.Detect, s.Elect = chart.Millis(noticed.Sub(began)), chart.Millis(e.Won.Sub(noticed))
	s.Announce = chart.Millis(e.Agreed.Sub(e.Won))
	s.Messages, s.Bytes = e.Messages, e.Bytes
}

// searchTime is how long the judge may search for an order of the calls. Here only the number of
// stale writes matters.
const searchTime = time.Second

// count ends the workers, and counts which of their writes were refused and accepted.
func (s *cluster) count(sample *Sample) error {
	calls, err := s.workers.Finish()
	if err != nil {
		return fmt.Errorf("end the workers: %w", err)
	}
	if !s.leased() {
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
