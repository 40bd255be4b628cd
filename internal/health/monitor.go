package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Monitor asks checks. Its methods may be called from any goroutine.
type Monitor struct {
	cfg    Config
	checks []*tally

	mu       sync.Mutex // guards what follows
	healthy  bool
	why      string
	told     string        // what the last report was about: see set
	since    time.Time     // when healthy last changed
	falls    int           // in a row, without a long healthy time between; not of Brief checks
	brief    bool          // only Brief checks failed since it was healthy
	lasted   time.Duration // of them, the longest failure since
	wellFrom time.Time     // since when all checks are well; zero while one is not
	release  *time.Timer
}

// tally is one check and what came of asking it. Its fields are guarded by
// Monitor.mu.
type tally struct {
	Check
	asked  bool // and well at least once, or presumed to be
	well   bool
	passes int // in a row
	fails  int
	why    string    // of the last failure
	since  time.Time // that it fails; the zero Time while it passes
}

// State is one check at a moment.
type State struct {
	Name string
	OK   bool   // it counts as well
	Why  string // why it failed the last time; "" when it passed
}

// Status is a Monitor at a moment.
type Status struct {
	Healthy bool
	Why     string // why not
	Checks  []State
}

// New returns a Monitor that has not begun, and reports that it knows nothing yet.
// Without checks the node is healthy. Errors wrap ErrConfig.
func New(cfg Config) (*Monitor, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	m := &Monitor{cfg: cfg, healthy: true, since: time.Now()}
	for _, c := range cfg.Checks {
		m.checks = append(m.checks, &tally{Check: c, asked: c.Presumed, well: c.Presumed})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.judge(time.Now())
	m.falls = 0 // to begin with is no fall
	return m, nil
}

// Run asks the checks, each in a goroutine of its own, until ctx is done.
func (m *Monitor) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, c := range m.checks {
		all.Go(func() { m.watch(ctx, c) })
	}
	all.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.release != nil {
		m.release.Stop()
	}
}

// Status is what is known now.
func (m *Monitor) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Healthy: m.healthy, Why: m.why}
	for _, c := range m.checks {
		s.Checks = append(s.Checks, State{Name: c.Name, OK: c.well, Why: c.why})
	}
	return s
}

// watch asks one check again and again.
func (m *Monitor) watch(ctx context.Context, c *tally) {
	every := time.NewTicker(m.cfg.Interval)
	defer every.Stop()
	for {
		err := m.ask(ctx, c)
		if ctx.Err() != nil {
			return
		}
		m.mu.Lock()
		lasted := c.take(err, m.cfg, time.Now())
		m.lasted = max(m.lasted, lasted)
		m.judge(time.Now())
		again := c.again()
		m.mu.Unlock()
		select {
		case <-every.C:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// again is when a check that fails is asked before its next time, nil for not.
func (c *tally) again() <-chan time.Time {
	if c.Again == 0 || c.fails == 0 {
		return nil
	}
	return time.After(c.Again)
}

// ask asks a check once.
func (m *Monitor) ask(ctx context.Context, c *tally) error {
	late := fmt.Errorf("did not end within %v", m.cfg.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, late)
	defer cancel()
	return c.Ask(ctx)
}

// take counts one result. The first pass of all is enough: there is nothing yet that
// it could flap from. It returns how long the failure of a Brief check lasted that is over.
func (c *tally) take(err error, cfg Config, now time.Time) (lasted time.Duration) {
	if err != nil {
		c.passes, c.why = 0, err.Error()
		c.fails++
		if c.since.IsZero() {
			stall, _ := errors.AsType[Stall](err)
			c.since = now.Add(-stall.For)
		}
		if c.fails >= cmp.Or(c.Fall, cfg.Fall) {
			c.well = false
		}
		return 0
	}
	if c.Brief && !c.well {
		lasted = now.Sub(c.since)
	}
	c.fails, c.why, c.since = 0, "", time.Time{}
	c.passes++
	if c.passes >= cmp.Or(c.Rise, cfg.Rise) || !c.asked {
		c.asked, c.well = true, true
	}
	return lasted
}

// judge makes one opinion of all checks. The caller holds mu.
func (m *Monitor) judge(now time.Time) {
	var ill, names []string
	first := true // nothing has failed yet, and not everything has passed
	brief := true
	for _, c := range m.checks {
		if !c.well {
			brief = brief && c.Brief
			ill, names = append(ill, c.complaint()), append(names, c.Name)
			first = first && c.why == "" && !c.asked
		}
	}
	about := strings.Join(names, ", ")
	if len(ill) > 0 {
		m.wellFrom = time.Time{}
		if first {
			m.set(false, "first "+about, "not yet checked: "+about, now)
			return
		}
		m.fall(now, brief)
		m.set(false, about, "unhealthy: "+strings.Join(ill, ", "), now)
		return
	}
	if m.wellFrom.IsZero() {
		m.wellFrom = now
	}
	if end := m.wellFrom.Add(m.holdDown()); !m.healthy && now.Before(end) {
		if m.cfg.Needed != nil && m.cfg.Needed() {
			m.set(true, "", "nobody else could lead: held back no more", now)
			m.why = ""
			return
		}
		m.set(false, "held", fmt.Sprintf("unhealthy: well again, held back until %s after %s",
			end.Format(time.TimeOnly), m.past()), now)
		m.wake(min(end.Sub(now), neededEvery))
		return
	}
	m.set(true, "", "", now)
}

// neededEvery is how often it is asked whether nobody else could lead.
const neededEvery = 100 * time.Millisecond

// complaint is a check that is not well, and why.
func (c *tally) complaint() string {
	switch {
	case c.why != "":
		return c.Name + " " + c.why
	case !c.asked:
		return c.Name
	}
	return c.Name + " is not well for long enough yet"
}

// fall counts that the node became unhealthy, or is so for more than it was.
func (m *Monitor) fall(now time.Time, brief bool) {
	if m.healthy {
		m.brief, m.lasted = true, 0
		if now.Sub(m.since) > m.cfg.MaxHoldDown {
			m.falls = 0
		}
	}
	switch {
	case brief:
	case m.brief:
		m.brief = false
		m.falls++
	default:
		m.falls = max(1, m.falls)
	}
}

// holdDown is for how long all checks have to be well now. The caller holds mu.
func (m *Monitor) holdDown() time.Duration {
	if m.brief {
		return min(m.lasted, m.cfg.HoldDown)
	}
	if m.falls == 0 {
		return 0
	}
	d := m.cfg.HoldDown
	for n := 1; n < m.falls && d < m.cfg.MaxHoldDown; n++ {
		d *= 2
	}
	return min(d, m.cfg.MaxHoldDown)
}

// wake judges again when a hold-down is over. The caller holds mu.
func (m *Monitor) wake(after time.Duration) {
	if m.release != nil {
		m.release.Stop()
	}
	m.release = time.AfterFunc(after, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.judge(time.Now())
	})
}

// set takes the new opinion, and reports it if it is about something else than the
// last report: what a check says in detail may differ each time that it is asked. The
// caller holds mu.
func (m *Monitor) set(healthy bool, about, why string, now time.Time) {
	m.why = why
	if m.healthy == healthy && m.told == about {
		return
	}
	if m.healthy != healthy {
		m.since = now
	}
	m.healthy, m.told = healthy, about
	m.cfg.Report(healthy, why)
}

// past is what the node is held back for, in words. The caller holds mu.
func (m *Monitor) past() string {
	switch {
	case m.brief:
		return fmt.Sprintf("it stood still for %v", m.lasted.Round(time.Millisecond))
	case m.falls == 1:
		return "a failure"
	}
	return fmt.Sprintf("%d failures", m.falls)
}
