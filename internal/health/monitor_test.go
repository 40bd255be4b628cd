package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// patient is a check whose answer a test sets, and the reports on it.
type patient struct {
	mu      sync.Mutex
	problem error
	reports []string
}

func (p *patient) is(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problem = nil
	if problem != "" {
		p.problem = errors.New(problem)
	}
}

func (p *patient) check() Check {
	return Check{Name: "it", Ask: func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.problem
	}}
}

func (p *patient) report(healthy bool, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports = append(p.reports, fmt.Sprintf("%v %s", healthy, why))
}

// said are the reports since the last call.
func (p *patient) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.reports
	p.reports = nil
	return said
}

var usual = Config{
	Interval: time.Second, Timeout: time.Second / 2, Rise: 2, Fall: 3,
	HoldDown: 10 * time.Second, MaxHoldDown: 40 * time.Second,
}

// monitored runs a Monitor of checks in a bubble.
func monitored(t *testing.T, p *patient, cfg Config, checks []Check, test func(*Monitor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Checks, cfg.Report = checks, p.report
		m, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			m.Run(ctx)
			close(done)
		}()
		test(m)
		cancel()
		<-done
	})
}

// after lets a time of the bubble pass, which is no real time, up to a moment between
// two askings.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func expect(t *testing.T, p *patient, want ...string) {
	t.Helper()
	if got := p.said(); !slices.Equal(got, want) {
		t.Errorf("reports %q, want %q", got, want)
	}
}

// "A check that was well counts as failed after Fall failures in a row, and as well
// again after Rise passes in a row … healthy again only when all its checks have been
// well for a hold-down."
func TestRiseAndFall(t *testing.T) {
	p := &patient{}
	monitored(t, p, usual, []Check{p.check()}, func(m *Monitor) {
		after(100 * time.Millisecond)
		expect(t, p, "false not yet checked: it", "true ")
		p.is("is ill")
		after(2 * time.Second) // two failures
		p.is("")
		after(time.Second)
		p.is("is ill")
		after(2 * time.Second) // two more, but not in a row
		expect(t, p)
		after(time.Second)
		expect(t, p, "false unhealthy: it is ill")
		p.is("is worse") // is seen in the status, and reported to nobody
		after(time.Second)
		expect(t, p)
		if s := m.Status(); s.Healthy || s.Why != "unhealthy: it is worse" || s.Checks[0].OK {
			t.Errorf("%+v", s)
		}
		p.is("")
		after(time.Second)
		expect(t, p) // one pass is not enough
		if s := m.Status(); s.Why != "unhealthy: it is not well for long enough yet" {
			t.Errorf("%+v", s)
		}
		after(time.Second)
		expect(t, p, "false unhealthy: well again, held back until 00:00:19 after a failure")
		after(9 * time.Second)
		expect(t, p)
		after(time.Second)
		expect(t, p, "true ")
	})
}

// "A node is unhealthy from its start until each check has passed once": one pass is
// enough; and one that fails from the start is never healthy.
func TestFromTheStart(t *testing.T) {
	p := &patient{}
	p.is("is ill")
	monitored(t, p, usual, []Check{p.check()}, func(*Monitor) {
		after(time.Hour)
		expect(t, p, "false not yet checked: it", "false unhealthy: it is ill")
		p.is("")
		after(time.Minute)
		if s := p.said(); len(s) != 2 || s[1] != "true " {
			t.Errorf("%q", s)
		}
	})
}

// "Which doubles each time until it has been healthy for long."
func TestHoldDownGrows(t *testing.T) {
	p := &patient{}
	monitored(t, p, usual, []Check{p.check()}, func(m *Monitor) {
		// fails as soon as it is healthy
		var held []time.Duration
		for range 4 {
			for !m.Status().Healthy {
				after(100 * time.Millisecond)
			}
			p.is("is ill")
			for m.Status().Healthy {
				after(100 * time.Millisecond)
			}
			p.is("")
			began := time.Now()
			for !m.Status().Healthy {
				after(100 * time.Millisecond)
			}
			held = append(held, time.Since(began).Round(2*time.Second))
		}
		want := []time.Duration{12 * time.Second, 22 * time.Second, 42 * time.Second, 42 * time.Second}
		if !slices.Equal(held, want) {
			t.Errorf("held back for %v, want %v", held, want)
		}
		after(time.Minute) // healthy for long
		p.is("is ill")
		after(4 * time.Second)
		p.is("")
		after(13 * time.Second)
		if !m.Status().Healthy {
			t.Errorf("the hold-down did not begin anew: %s", m.Status().Why)
		}
	})
}

// A failure during the hold-down begins it anew.
func TestFailsWhileHeld(t *testing.T) {
	p := &patient{}
	monitored(t, p, usual, []Check{p.check()}, func(m *Monitor) {
		after(100 * time.Millisecond)
		p.is("is ill")
		after(3 * time.Second)
		p.is("")
		after(8 * time.Second)
		p.is("is ill")
		after(3 * time.Second)
		p.is("")
		after(11 * time.Second)
		if m.Status().Healthy {
			t.Error("healthy while it is to be held back")
		}
		after(2 * time.Second)
		if !m.Status().Healthy {
			t.Error(m.Status().Why)
		}
	})
}

// standing is an event loop that a test stops: it says for how long it has stood still.
type standing struct {
	mu    sync.Mutex
	since time.Time
}

func (s *standing) stop(still bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since = (time.Time{}); still {
		s.since = time.Now()
	}
}

func (s *standing) busy() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return 0
	}
	return time.Since(s.since)
}

// "What slows a node for a second keeps it from leading for about as long": however often,
// and although the checks are asked each five seconds and have to pass twice.
func TestStall(t *testing.T) {
	p, loop := &patient{}, &standing{}
	cfg := usual
	cfg.Interval = 5 * time.Second
	const still, limit = 1500 * time.Millisecond, 250 * time.Millisecond
	monitored(t, p, cfg, []Check{Loop(loop.busy, limit)}, func(m *Monitor) {
		after(4 * time.Second)
		for range 5 {
			loop.stop(true) // it is found out a second later
			after(still)
			if m.Status().Healthy {
				t.Fatal("the stall is not seen")
			}
			loop.stop(false)
			began := time.Now()
			for !m.Status().Healthy {
				after(10 * time.Millisecond)
			}
			if held := time.Since(began); held < still || held > still+limit {
				t.Errorf("held back for %v after a stall of %v: %q", held, still, p.said())
			}
			after(5*time.Second - still - time.Since(began))
		}
		loop.stop(true)
		after(time.Hour)
		loop.stop(false)
		after(usual.HoldDown + limit)
		if s := m.Status(); !s.Healthy {
			t.Errorf("it is held back for more than is given: %s", s.Why)
		}
	})
}

// What fails besides a stall is held back for as ever.
func TestStallOfTheIll(t *testing.T) {
	p, loop := &patient{}, &standing{}
	monitored(t, p, usual, []Check{p.check(), Loop(loop.busy, 100*time.Millisecond)}, func(m *Monitor) {
		after(500 * time.Millisecond)
		loop.stop(true)
		p.is("is ill")
		after(3 * time.Second)
		loop.stop(false)
		p.is("")
		after(usual.HoldDown)
		if m.Status().Healthy {
			t.Error("healthy after the hold-down of a stall")
		}
		after(2 * time.Second)
		if !m.Status().Healthy {
			t.Error(m.Status().Why)
		}
	})
}

// "When nobody else can lead, a node that is held down does"; one whose check fails does not.
func TestNeeded(t *testing.T) {
	p := &patient{}
	cfg := usual
	var needed atomic.Bool
	cfg.Needed = needed.Load
	monitored(t, p, cfg, []Check{p.check()}, func(m *Monitor) {
		after(100 * time.Millisecond)
		p.is("is ill")
		after(3 * time.Second)
		p.said()
		needed.Store(true)
		after(time.Minute)
		expect(t, p)
		needed.Store(false)
		p.is("")
		after(3 * time.Second)
		if s := m.Status(); s.Healthy {
			t.Error("not held back, although another could lead")
		}
		p.said()
		needed.Store(true)
		after(100 * time.Millisecond)
		expect(t, p, "true nobody else could lead: held back no more")
		needed.Store(false)
		after(time.Second)
		expect(t, p) // it stays so
	})
}

// "The node is healthy when every check is well", and says which are not. One that
// hangs is given up after its time; without any check the node is healthy.
func TestComposition(t *testing.T) {
	p := &patient{}
	hangs := Check{Name: "other", Fall: 1, Ask: func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	monitored(t, p, usual, []Check{p.check(), hangs}, func(m *Monitor) {
		after(time.Minute)
		expect(t, p, "false not yet checked: it, other", "false not yet checked: other",
			"false unhealthy: other did not end within 500ms")
		p.is("is ill")
		after(4 * time.Second)
		expect(t, p, "false unhealthy: it is ill, other did not end within 500ms")
		s := m.Status()
		if len(s.Checks) != 2 || s.Checks[1] != (State{"other", false, "did not end within 500ms"}) {
			t.Errorf("%+v", s)
		}
	})
	monitored(t, p, usual, nil, func(m *Monitor) {
		expect(t, p)
		if !m.Status().Healthy {
			t.Errorf("%+v", m.Status())
		}
	})
}

func TestBadConfig(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"interval": func(c *Config) { c.Interval = 0 }, "timeout": func(c *Config) { c.Timeout = -1 },
		"rise": func(c *Config) { c.Rise = 0 }, "fall": func(c *Config) { c.Fall = -1 },
		"hold-down": func(c *Config) { c.HoldDown = -1 }, "most": func(c *Config) { c.MaxHoldDown = 1 },
		"report": func(c *Config) { c.Report = nil },
	} {
		cfg := usual
		cfg.Report = func(bool, string) {}
		if _, err := New(cfg); err != nil {
			t.Fatal(err)
		}
		spoil(&cfg)
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
