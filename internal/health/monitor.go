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

// Monitor makes the checks of a Config. Its methods may be called from any goroutine.
type Monitor struct {
	cfg    Config
	checks []*tally

	mu      sync.Mutex // guards the fields below
	healthy bool
	why     string
	told    string    // the checks that the last report was about: see set
	since   time.Time // when healthy last changed
	// falls is how often the node became unhealthy since it was last healthy for long. Failures of
	// Brief checks do not count.
	falls    int
	brief    bool          // only Brief checks failed since the node was healthy
	lasted   time.Duration // the longest failure of those Brief checks
	wellFrom time.Time     // since when all checks pass; zero while one fails
	release  *time.Timer
}

// tally is one check with its latest results. Monitor.mu guards its fields.
type tally struct {
	Check
	asked  bool // the check has passed at least once, or is Presumed
	well   bool
	passes int // passes in a row
	fails  int
	why    string    // the last failure, in words
	since  time.Time // since when it fails; zero while it passes
}

// State is the state of one check.
type State struct {
	Name string
	OK   bool   // it counts as passed
	Why  string // why the last run failed; "" if it passed
}

// Status is the state of a Monitor.
type Status struct {
	Healthy bool
	Why     string // why the node is not healthy
	Checks  []State
}

// New returns a Monitor that makes no checks yet, and reports that they are still to come. Without
// checks the node is healthy. Errors wrap ErrConfig.
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

// Run makes the checks, each in a goroutine of its own, until ctx is done.
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

// Status returns the present results of the checks.
func (m *Monitor) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{Healthy: m.healthy, Why: m.why}
	for _, c := range m.checks {
		s.Checks = append(s.Checks, State{Name: c.Name, OK: c.well, Why: c.why})
	}
	return s
}

// watch makes one check again and again.
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

// again returns a channel that tells when to repeat a check that fails, if that is before its usual
// time; else nil.
func (c *tally) again() <-chan time.Time {
	if c.Again == 0 || c.fails == 0 {
		return nil
	}
	return time.After(c.Again)
}

// ask makes a check once.
func (m *Monitor) ask(ctx context.Context, c *tally) error {
	late := fmt.Errorf("did not end within %v", m.cfg.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, late)
	defer cancel()
	return c.Ask(ctx)
}

// take counts one result of a check. Its first pass ever is enough for the check to count as
// passed. If a Brief check passes after a failure, take returns how long it had failed.
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

// judge decides from all checks whether the node is healthy, and reports it. The caller holds mu.
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

// neededEvery is how often Config.Needed is called while the node is held back.
const neededEvery = 100 * time.Millisecond

// complaint names a check that does not count as passed, and says why.
func (c *tally) complaint() string {
	switch {
	case c.why != "":
		return c.Name + " " + c.why
	case !c.asked:
		return c.Name
	}
	return c.Name + " is not well for long enough yet"
}

// fall counts that the node became unhealthy, or that a check that is not Brief failed too. The
// parameter brief says that only Brief checks fail.
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

// holdDown returns how long all checks must pass in a row before the node is healthy. The caller
// holds mu.
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

// wake calls judge after this time. The caller holds mu.
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

// set stores the new result. It reports the result only if the health or the names of the failed
// checks differ from the last report: a check's text may differ each time. The caller holds mu.
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

// past describes the failure after which the node is held back. The caller holds mu.
func (m *Monitor) past() string {
	switch {
	case m.brief:
		return fmt.Sprintf("it stood still for %v", m.lasted.Round(time.Millisecond))
	case m.falls == 1:
		return "a failure"
	}
	return fmt.Sprintf("%d failures", m.falls)
}
