package node

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	suspend "github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/proto"
)

// leading is a Machine that follows the reasons of Campaigns: "lead N seconds",
// "lose". It says when it is told that the work has stopped.
func leading(j *journal) func(time.Time, algorithms.Event) (algorithms.Output, bool) {
	return func(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
		switch ev := ev.(type) {
		case algorithms.WorkStopped:
			j.add("idle %d", ev.Term)
			return algorithms.Output{}, false
		case algorithms.PeerProvenDead:
			j.add("gone %d", ev.ID)
			return algorithms.Output{}, false
		case algorithms.PeerHeardAgain:
			j.add("heard %d", ev.ID)
			return algorithms.Output{}, false
		case algorithms.Campaign:
			l := leads(self, 7)
			switch ev.Reason {
			case "lead":
				l.Until = now.Add(10 * time.Second)
			case "lose":
				l = leads(0, 7)
			case "again":
				l = leads(self, 8)
				l.Until = now.Add(10 * time.Second)
			}
			return algorithms.Output{Leader: l}, true
		}
		return algorithms.Output{}, false
	}
}

func startLeading(t *testing.T) *fixture {
	j := new(journal)
	f := start(t, leading(j), func(_ *fixture, c *Config) { c.Record = nil })
	f.journal = j
	return f
}

// errDone ends Lead.
var errDone = errors.New("done")

// lead calls Lead and takes the errors that the tests bring about.
func lead(t *testing.T, f *fixture, work func(context.Context, Lease) error) {
	if err := f.Lead(t.Context(), work); !errors.Is(err, errDone) && !errors.Is(err, ErrStopped) {
		t.Errorf("Lead: %v", err)
	}
}

func wantLines(t *testing.T, j *journal, want ...string) {
	t.Helper()
	synctest.Wait()
	got := j.take()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// "It leads no more; then its work stops; only then RELEASE": the Machine learns
// that the work has stopped when the last function has returned.
func TestWorkStopsBeforeTheTermIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		for name, drain := range map[string]time.Duration{"a": time.Second, "b": 3 * time.Second} {
			go lead(t, f, func(ctx context.Context, l Lease) error {
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), ErrNotLeader) || l.Valid() {
					t.Errorf("%s ends with %v, valid %v", name, context.Cause(ctx), l.Valid())
				}
				time.Sleep(drain)
				f.journal.add("%s stopped", name)
				return nil
			})
		}
		f.campaign("lead")
		synctest.Wait()
		f.campaign("lose")
		wantLines(t, f.journal)
		time.Sleep(4 * time.Second)
		wantLines(t, f.journal, "a stopped", "b stopped", "idle 7")

		f.campaign("again")
		f.campaign("lose")
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if lines := f.journal.take(); len(lines) == 0 || lines[len(lines)-1] != "idle 8" {
			t.Errorf("the second leadership: %q", lines)
		}
	})
}

// "Work, then the leadership's end is told, then the links close": Run returns once all
// work has, and frees the voters of a term that was left before.
func TestRunWaitsForTheWork(t *testing.T) {
	for _, left := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := startLeading(t)
			go lead(t, f, func(ctx context.Context, l Lease) error {
				<-ctx.Done()
				if errors.Is(context.Cause(ctx), ErrStopped) == left || l.Valid() {
					t.Errorf("ends with %v, valid %v", context.Cause(ctx), l.Valid())
				}
				time.Sleep(time.Hour)
				f.journal.add("stopped")
				return nil
			})
			f.campaign("lead")
			synctest.Wait()
			want := []string{"stopped", "ended"}
			if left {
				f.campaign("lose")
				want = []string{"stopped", "idle 7", "ended"}
			}
			if err := f.stop(); err != nil {
				t.Error(err)
			}
			f.journal.add("ended")
			wantLines(t, f.journal, want...)
			if err := f.Campaign(t.Context(), ""); !errors.Is(err, ErrStopped) || f.Status().Running {
				t.Errorf("after its end: %v, running %v", err, f.Status().Running)
			}
		})
	}
}

// "The context ends before the lease can", even when the loop says nothing.
func TestContextEndsBeforeTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		ended := make(chan Lease, 1)
		go lead(t, f, func(ctx context.Context, l Lease) error {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), ErrLeaseExpired) || !l.Valid() {
				t.Errorf("ends with %v, valid %v", context.Cause(ctx), l.Valid())
			}
			ended <- l
			return errDone
		})
		f.campaign("lead")
		time.Sleep(5 * time.Second)
		f.campaign("lead") // renewed
		begun := time.Now()
		l := <-ended
		if after := time.Since(begun); after < 8*time.Second || after >= 10*time.Second {
			t.Errorf("the context ended %v after the renewal of a lease of 10s", after)
		}
		if l.Term() != 7 || !l.Until().Equal(begun.Add(10*time.Second)) {
			t.Errorf("lease of term %d until %v", l.Term(), l.Until())
		}
		time.Sleep(time.Until(l.Until()))
		if l.Valid() || f.Status().Leader.ID != 0 {
			t.Error("a lease that has ended counts")
		}
	})
}

// "Work that was cancelled within a term either begins again in it or the term is given
// up": a leader that stalls for more than nine tenths of its lease, and renews it all the
// same, is not left without work. It begins again once all of the old work has returned,
// and the Machine does not hear that the work of the term has ended.
func TestWorkBeginsAgainInTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		for name, drain := range map[string]time.Duration{"a": 0, "b": 5 * time.Second} {
			times := 0
			go lead(t, f, func(ctx context.Context, l Lease) error {
				if times++; ctx.Err() != nil || !l.Valid() {
					t.Errorf("%s begins with %v, valid %v", name, context.Cause(ctx), l.Valid())
				}
				f.journal.add("%s begins %d", name, l.Term())
				<-ctx.Done()
				time.Sleep(drain)
				f.journal.add("%s ends", name)
				return nil
			})
			synctest.Wait()
		}
		f.campaign("lead")
		synctest.Wait()
		f.journal.take()
		time.Sleep(9*time.Second + time.Second/2) // 95 % of the lease: work was told to stop
		f.campaign("lead")
		wantLines(t, f.journal, "a ends")
		time.Sleep(4 * time.Second) // less than until the lease ends
		f.campaign("lead")
		time.Sleep(time.Second)
		synctest.Wait()
		lines := f.journal.take()
		slices.Sort(lines[1:])
		if want := []string{"b ends", "a begins 7", "b begins 7"}; !slices.Equal(lines, want) {
			t.Fatalf("got %q, want %q", lines, want)
		}
		f.campaign("lose")
		time.Sleep(6 * time.Second)
		wantLines(t, f.journal, "a ends", "b ends", "idle 7")
	})
}

// A function that has returned before it was told to stop is done with this term: a
// stall does not call it again.
func TestWorkThatIsDoneStaysDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		go lead(t, f, func(_ context.Context, l Lease) error {
			f.journal.add("done %d", l.Term())
			return nil
		})
		f.campaign("lead")
		wantLines(t, f.journal, "done 7")
		for range 3 {
			time.Sleep(9*time.Second + time.Second/2)
			f.campaign("lead")
		}
		wantLines(t, f.journal)
		f.campaign("lose")
		wantLines(t, f.journal, "idle 7")
		f.campaign("again")
		wantLines(t, f.journal, "done 8")
	})
}

// "RELEASE waits for all work of that term": also when leadership ends while work that
// was told to stop for the lease's end still drains, and was to begin again.
func TestLosingWhileOldWorkDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		go lead(t, f, func(ctx context.Context, l Lease) error {
			f.journal.add("begins %d", l.Term())
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			f.journal.add("ends")
			return nil
		})
		f.campaign("lead")
		time.Sleep(9*time.Second + time.Second/2)
		f.campaign("lead")
		f.campaign("lose")
		time.Sleep(time.Second)
		wantLines(t, f.journal, "begins 7")
		time.Sleep(time.Minute)
		wantLines(t, f.journal, "ends", "idle 7")
	})
}

// A best-effort leader has no lease, and is told when it leads no more.
func TestLeadWithoutALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		result := make(chan error, 1)
		got := make(chan Lease, 1)
		go func() {
			result <- f.Lead(t.Context(), func(ctx context.Context, l Lease) error {
				got <- l
				<-ctx.Done()
				return nil
			})
		}()
		f.campaign("best effort")
		if l := <-got; !l.Valid() || !l.Until().IsZero() || l.Term() != 7 {
			t.Errorf("%+v", l)
		}
		_ = f.stop()
		if err := <-result; !errors.Is(err, ErrStopped) {
			t.Errorf("Lead on a node that ended: %v", err)
		}
	})
}

// Lead ends with its context, and with the error of its function.
func TestLeadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		work := func(context.Context, Lease) error { return enough }
		if err := f.Lead(ctx, work); !errors.Is(err, enough) {
			t.Errorf("with its context: %v", err)
		}
		f.campaign("lead")
		if err := f.Lead(t.Context(), work); err != enough {
			t.Errorf("with its function: %v", err)
		}
	})
}

// What a process said, it said before it died.
func TestProofComesAfterTheMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		f.ProvenDead(other, ownIncarnation)
		wantLines(t, f.journal, "gone 5")
	})
}

// Promise: "Lease.Valid() cheap enough for every request": nanoseconds, by the clock
// that a real node has, too.
func BenchmarkLeaseValid(b *testing.B) {
	for name, now := range map[string]func() time.Time{"time": time.Now, "boottime": suspend.Now} {
		b.Run(name, func(b *testing.B) {
			l := Lease{newLeadership(algorithms.Leader{ID: self, Term: 7, Until: now().Add(time.Hour)}, now, nil)}
			for b.Loop() {
				if !l.Valid() {
					b.Fatal("not valid")
				}
			}
		})
	}
}

// "A process that is heard again by a new link is alive": only of one that was proven dead
// is that news, and only once.
func TestHeardAgainComesAfterTheProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		f.HeardAgain(other, ownIncarnation)
		f.ProvenDead(other, ownIncarnation)
		f.HeardAgain(other, proto.Incarnation{9}) // another process of that node
		f.HeardAgain(other, ownIncarnation)
		f.HeardAgain(other, ownIncarnation)
		wantLines(t, f.journal, "gone 5", "heard 5")
	})
}

// "Until ctx is done": where it is done already, no work begins, on a node that leads too.
func TestLeadWithAContextThatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLeading(t)
		defer func() { _ = f.stop() }()
		f.campaign("lead")
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDone)
		err := f.Lead(ctx, func(context.Context, Lease) error { return errors.New("it was called") })
		if !errors.Is(err, errDone) {
			t.Errorf("Lead: %v", err)
		}
	})
}
