package node

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// timeouts is a Machine that answers a Campaign by the deadline in its reason,
// "" for none, and notes when a Timeout came.
type timeouts struct {
	zero time.Time
	busy time.Duration // how long each Campaign keeps the Machine
	came []time.Duration
}

func (m *timeouts) step(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
	switch ev := ev.(type) {
	case algorithms.Timeout:
		m.came = append(m.came, now.Sub(m.zero))
		return algorithms.Output{}, true
	case algorithms.Campaign:
		time.Sleep(m.busy)
		if ev.Reason == "" {
			return algorithms.Output{}, true
		}
		after, err := time.ParseDuration(ev.Reason)
		if err != nil {
			panic(err)
		}
		return algorithms.Output{Deadline: m.zero.Add(after)}, true
	}
	return algorithms.Output{}, false
}

// "A timeout concludes something from silence, and what has come is none": messages
// and a view that came before the deadline was looked at are taken first, and when
// one of them moves the deadline there is no Timeout.
func TestTimeoutComesLast(t *testing.T) {
	for name, moves := range map[string]bool{"moved": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				zero := time.Now()
				var took []string
				f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
					out := algorithms.Output{Deadline: zero.Add(time.Second)}
					switch ev.(type) {
					case algorithms.Campaign:
						time.Sleep(2 * time.Second) // no processor
					case algorithms.Receive:
						took = append(took, "message")
					case algorithms.PeersChanged:
						took = append(took, "view")
						if moves {
							out.Deadline = zero.Add(time.Hour)
						}
					case algorithms.Timeout:
						took = append(took, "timeout")
						out.Deadline = time.Time{}
					default:
						return algorithms.Output{}, false
					}
					return out, true
				})
				go func() {
					if err := f.Campaign(context.Background(), ""); err != nil {
						t.Error(err)
					}
				}()
				time.Sleep(time.Second)
				for seq := range uint64(3) {
					f.Deliver(message(seq))
				}
				f.PeersChanged(nil, "")
				time.Sleep(time.Minute)
				if err := f.stop(); err != nil {
					t.Error(err)
				}
				want := []string{"message", "message", "message", "view"}
				if !moves {
					want = append(want, "timeout")
				}
				if !slices.Equal(took, want) {
					t.Errorf("took %v, want %v", took, want)
				}
			})
		})
	}
}

// Promise: "Deadline is when to deliver Timeout; zero for never. It replaces the
// deadline of the Step before."
func TestDeadline(t *testing.T) {
	cases := []struct {
		name      string
		busy      time.Duration
		deadlines []string // one a Campaign
		want      []time.Duration
	}{
		{"none", 0, nil, nil},
		{"to the instant", 0, []string{"1234567ns"}, []time.Duration{1234567}},
		{"in the past", 0, []string{"-1s"}, []time.Duration{0}},
		{"made later", 0, []string{"1s", "2s"}, []time.Duration{2 * time.Second}},
		{"made earlier", 0, []string{"2s", "1s"}, []time.Duration{time.Second}},
		{"withdrawn", 0, []string{"1s", ""}, nil},
		// The first deadline passes while the Machine is in the second Step,
		// which replaces it: no Timeout for it may come after.
		{
			"passed, then made later", 2 * time.Second,
			[]string{"3s", "9s"},
			[]time.Duration{9 * time.Second},
		},
		{"passed, then withdrawn", 2 * time.Second, []string{"3s", ""}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &timeouts{zero: time.Now(), busy: c.busy}
				f := start(t, m.step)
				for _, d := range c.deadlines {
					f.campaign(d)
				}
				time.Sleep(time.Minute)
				if err := f.stop(); err != nil {
					t.Error(err)
				}
				if !slices.Equal(m.came, c.want) {
					t.Errorf("timeouts after %v, want %v", m.came, c.want)
				}
			})
		})
	}
}

// Promise: a Step that repeats its deadline keeps it: what else happens does
// not put the Timeout off.
func TestDeadlineIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now()
		var came []time.Duration
		f := start(t, func(now time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			if _, ok := ev.(algorithms.Timeout); ok {
				came = append(came, now.Sub(zero))
				return algorithms.Output{}, true
			}
			_, first := ev.(algorithms.Start)
			return algorithms.Output{Deadline: zero.Add(time.Second)}, first
		})
		for range 20 {
			time.Sleep(70 * time.Millisecond)
			f.Deliver(message(1))
		}
		synctest.Wait()
		if want := []time.Duration{time.Second}; !slices.Equal(came, want) {
			t.Errorf("timeouts after %v, want %v", came, want)
		}
	})
}

// Promise: a loop that waits for an event is not busy, one that hangs in a Step
// is busy from its beginning, and Status answers meanwhile.
func TestSignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			if _, ok := ev.(algorithms.Campaign); ok {
				<-hang
			}
			return algorithms.Output{}, false
		})
		time.Sleep(10 * time.Second)
		if age, busy := time.Since(f.Status().LastTick), f.Busy(); age > 0 || busy > 0 {
			t.Errorf("idle: the last sign of life is %v old, busy for %v", age, busy)
		}
		asked := make(chan error)
		go func() { asked <- f.Campaign(context.Background(), "hang") }()
		time.Sleep(10 * time.Second)
		if age, busy := time.Since(f.Status().LastTick), f.Busy(); age != 10*time.Second || busy != age {
			t.Errorf("hanging for 10s: the last sign of life is %v old, busy for %v", age, busy)
		}
		close(hang)
		if err := <-asked; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if age, busy := time.Since(f.Status().LastTick), f.Busy(); age > 0 || busy > 0 {
			t.Errorf("going on: the last sign of life is %v old, busy for %v", age, busy)
		}
	})
}

// Promise: "now never goes back from one Step to the next."
func TestClockNeverGoesBack(t *testing.T) {
	var c clock
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	reads := []struct{ now, want int }{{0, 0}, {5, 5}, {3, 5}, {5, 5}, {6, 6}, {-9, 6}, {7, 7}}
	for _, r := range reads {
		got := c.read(zero.Add(time.Duration(r.now)))
		if want := zero.Add(time.Duration(r.want)); !got.Equal(want) {
			t.Errorf("at %d the clock reads %v, want %v", r.now, got, want)
		}
	}
}

// "It gives records their times", and tells that somebody set the clock: a record of the next Step has it, and a line
// of the log.
func TestClockOfTheMachineIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := time.Duration(0)
		var log bytes.Buffer
		var records []trace.Record
		m := &timeouts{zero: time.Now()}
		f := start(t, m.step, func(_ *fixture, c *Config) {
			c.Wall = func() (time.Time, time.Duration) { return m.zero.Add(set), set }
			c.Record = func(r trace.Record) { records = append(records, r) }
			c.Logger = zerolog.New(&log)
		})
		for _, set = range []time.Duration{0, -3200 * time.Millisecond, -3200 * time.Millisecond, time.Hour} {
			if err := f.Campaign(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if rec := records[len(records)-1]; rec.ClockSet != set || !rec.Time.Equal(m.zero.Add(set)) {
				t.Errorf("set by %v: %+v", set, rec)
			}
		}
		const lines = `{"level":"info","message":"somebody set the clock of this machine back by 3.2s; ` +
			`leases do not depend on it"}` + "\n" + `{"level":"info","message":"somebody set the clock of this ` +
			`machine forward by 1h0m3.2s; leases do not depend on it"}` + "\n"
		if log.String() != lines {
			t.Errorf("%s", log.String())
		}
	})
}

// "Records tell the end of a lease by the wall clock": time servers slew that, so it goes away from the clock that
// judges leases, and they set it. The record says for how long the lease runs yet.
func TestRecordsTellLeasesByTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now().Round(0)
		var ahead, set time.Duration
		var last trace.Record
		f := start(t, func(now time.Time, _ algorithms.Event) (algorithms.Output, bool) {
			return algorithms.Output{Leader: algorithms.Leader{ID: 2, Term: 1, Until: now.Add(time.Second)}}, true
		}, func(_ *fixture, c *Config) {
			c.Now = func() time.Time { return zero }
			c.Wall = func() (time.Time, time.Duration) { return zero.Add(ahead), set }
			c.Record = func(r trace.Record) { last = r }
		})
		for _, slewed := range []time.Duration{0, 100 * time.Microsecond, 2 * time.Second, -time.Hour} {
			for _, set = range []time.Duration{set, set + time.Minute} {
				ahead = slewed + set
				if err := f.Campaign(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				if left := last.ValidUntil.Sub(last.Time); (left - time.Second).Abs() >= time.Millisecond {
					t.Errorf("slewed by %v, set by %v: the lease runs %v", slewed, set, left)
				}
			}
		}
	})
}
