package node

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Promise: Campaign and Resign "return after the Step was carried out".
func TestOperatorWaitsForTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []algorithms.Event
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			time.Sleep(time.Second)
			events = append(events, ev)
			return algorithms.Output{}, false
		})
		f.campaign("maintenance")
		if err := f.Resign(context.Background(), other, "told to"); err != nil {
			t.Error(err)
		}
		want := []algorithms.Event{
			algorithms.Start{},
			algorithms.Campaign{Reason: "maintenance"},
			algorithms.Resign{To: other, Why: "told to"},
		}
		if !slices.Equal(events, want) {
			t.Errorf("by then the Machine took %+v, want %+v", events, want)
		}
		if got := f.journal.take(); !slices.Contains(got, "record resign, leader 0") {
			t.Errorf("by then the journal says %q", got)
		}
	})
}

// Promise: an operator who does not want to wait longer does not.
func TestOperatorGivesUp(t *testing.T) {
	impatient := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), time.Second)
	}
	t.Run("in the queue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n, err := New(config(new(journal), silent)) // never runs
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := impatient()
			defer cancel()
			if err := n.Resign(ctx, 0, "told to"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Resign = %v, want the deadline", err)
			}
		})
	})
	t.Run("during the Step", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
				time.Sleep(time.Minute)
				return algorithms.Output{}, false
			})
			time.Sleep(time.Minute)
			ctx, cancel := impatient()
			defer cancel()
			if err := f.Campaign(ctx, "now"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Campaign = %v, want the deadline", err)
			}
			time.Sleep(2 * time.Minute)
			if s := f.Status(); s.Counters.Steps != 2 {
				t.Errorf("%d Steps, want the Campaign carried out all the same", s.Counters.Steps)
			}
			if err := f.stop(); err != nil {
				t.Error(err)
			}
		})
	})
}

// Promise: a request to a node that stops is answered, never left waiting.
func TestOperatorOfAStoppedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			time.Sleep(time.Minute)
			return algorithms.Output{}, false
		})
		errs := make(chan error, 2)
		for range cap(errs) { // both wait for the first Step to end
			go func() { errs <- f.Campaign(context.Background(), "now") }()
		}
		synctest.Wait()
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, ErrStopped) {
				t.Errorf("Campaign = %v, want ErrStopped", err)
			}
		}
	})
}
