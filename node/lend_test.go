package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// lender is the Machine of leading, and lends what is left of its lease, after a while, or refuses.
func lender(
	j *journal, wait time.Duration, refused string,
) func(time.Time, algorithms.Event) (algorithms.Output, bool) {
	var last algorithms.Output
	leads := leading(j)
	return func(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
		out, ok := leads(now, ev)
		if !ok {
			out = algorithms.Output{Leader: last.Leader}
		}
		switch ev.(type) {
		case algorithms.Lend:
			out.Deadline = now.Add(wait)
		case algorithms.Timeout:
			left := out.Leader.Until.Sub(now)
			out.Lent = &algorithms.LendEnd{For: left * 9 / 10, Until: out.Leader.Until}
			if refused != "" {
				out.Lent = &algorithms.LendEnd{Refused: refused}
			}
		}
		last = out
		return out, true
	}
}

func startLender(t *testing.T, refused string) *fixture {
	return startLenderOf(t, refused, proto.Incarnation{})
}

// startLenderOf is startLender as this process, the zero incarnation standing for that of start.
func startLenderOf(t *testing.T, refused string, s proto.Incarnation) *fixture {
	j := new(journal)
	f := start(t, lender(j, time.Second, refused), func(_ *fixture, c *Config) {
		c.Record, c.Guarantee = nil, algorithms.Lease
		if !s.IsZero() {
			c.Incarnation = s
		}
	})
	f.journal = j
	return f
}

func mustLend(t *testing.T, f *fixture) Loan {
	t.Helper()
	l, err := f.Lend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// "Its leadership is not idle until the last lent lease has ended or was returned", so that
// RELEASE and TIMEOUT_NOW come after.
func TestWhatIsLentIsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLender(t, "")
		defer func() { _ = f.stop() }()
		f.campaign("lead")
		a, b := mustLend(t, f), mustLend(t, f)
		if a.Term != 7 || a.ID == b.ID || a.For >= time.Until(a.Until)+time.Second || f.Status().Lent != 2 {
			t.Errorf("lent %+v and %+v, status %d", a, b, f.Status().Lent)
		}
		f.campaign("lose")
		wantLines(t, f.journal)
		if !f.Return(a.ID) || f.Return(a.ID) {
			t.Error("a loan is given back once")
		}
		wantLines(t, f.journal)
		time.Sleep(time.Until(b.Until) - 1)
		wantLines(t, f.journal)
		time.Sleep(time.Nanosecond)
		wantLines(t, f.journal, "idle 7")
		if f.Status().Lent != 0 || f.Return(b.ID) {
			t.Error("a loan that has ended counts")
		}

		f.campaign("again")
		c := mustLend(t, f)
		f.campaign("lose")
		f.Return(c.ID)
		wantLines(t, f.journal, "idle 8") // at once
	})
}

// A Node that ends does not wait for a process outside, nor does it say that this has
// stopped: the voters keep what they promised for it.
func TestEndsWhileItLends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLender(t, "")
		f.campaign("lead")
		mustLend(t, f)
		f.campaign("lose")
		begun := time.Now()
		if err := f.stop(); err != nil || time.Since(begun) != 0 {
			t.Errorf("%v, after %v", err, time.Since(begun))
		}
		wantLines(t, f.journal, "idle 0")
	})
}

// A lease that comes when nobody waits for it any more is given back.
func TestNobodyWaitsForTheLoan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLender(t, "")
		defer func() { _ = f.stop() }()
		f.campaign("lead")
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := f.Lend(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := f.Status().Lent; n != 0 {
			t.Errorf("%d are lent", n)
		}
	})
}

// "Until its end no other node leads": so whoever comes late, with what a former process of
// the node lent it, gives back nothing of what this one has lent to another.
func TestLoansOfAFormerProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lent []Loan
		for range 2 {
			f := startLenderOf(t, "", proto.NewIncarnation())
			f.campaign("lead")
			for _, former := range lent {
				if l := mustLend(t, f); f.Return(former.ID) || f.Status().Lent != 1 {
					t.Errorf("lease %d is given back by %d, which a former process lent", l.ID, former.ID)
				}
			}
			lent = append(lent, mustLend(t, f))
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Who asks for a lease while the loop does not come to it, as before Run, and gives up,
// leaves nothing behind. (synctest fails when a goroutine of the test stays.)
func TestLendIsGivenUpBeforeItWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(new(journal), silent)
		cfg.Guarantee = algorithms.Lease
		n, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := n.Lend(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// Who may not lend says why.
func TestLendIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startLender(t, "5 leads, not this node; ask node 5")
		if _, err := f.Lend(t.Context()); !errors.Is(err, ErrNotLent) || !strings.Contains(err.Error(), "ask node 5") {
			t.Error(err)
		}
		_ = f.stop()
		if _, err := f.Lend(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("of a Node that has ended: %v", err)
		}
		f = startLeading(t) // best-effort
		defer func() { _ = f.stop() }()
		f.campaign("best effort")
		_, err := f.Lend(t.Context())
		if !errors.Is(err, ErrNotLent) || !strings.Contains(err.Error(), "without voters") {
			t.Error(err)
		}
	})
}

// "It keeps to its lease, and never renews after that": a Step that began in time and took
// until after the lease's end renews nothing. Who was told "nobody" is not told the same
// term's leader after it.
func TestARenewalThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(journal)
		slow, begun := leading(j), time.Now()
		f := start(t, func(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			out, ok := slow(now, ev)
			if c, is := ev.(algorithms.Campaign); is && c.Reason == "lead" && now.Sub(begun) > time.Second {
				time.Sleep(2 * time.Second) // the machine has much else to do
			}
			if ev, is := ev.(algorithms.LeaseExpired); is {
				j.add("lapsed %d", ev.Term)
				out, ok = algorithms.Output{Leader: leads(0, 7)}, true
			}
			return out, ok
		}, func(_ *fixture, c *Config) { c.Record = nil })
		f.journal = j
		defer func() { _ = f.stop() }()
		got := make(chan Lease, 2)
		go lead(t, f, func(ctx context.Context, l Lease) error {
			got <- l
			<-ctx.Done()
			return nil
		})
		f.campaign("lead")
		l := <-got
		time.Sleep(9 * time.Second)
		go func() { // from 9 s to 11 s
			if err := f.Campaign(context.Background(), "lead"); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(time.Second)
		if l.Valid() || f.Status().Role != trace.Looking {
			t.Fatal("the lease has ended")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if l.Valid() || f.Status().Leader.ID != 0 {
			t.Error("it leads again in the term that it has lost")
		}
		wantLines(t, j, "lapsed 7", "idle 7")
	})
}
