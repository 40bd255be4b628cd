package daemon

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// mostHolds is the length of the longest hold-down, as a multiple of the configured one.
const mostHolds = 32

// causeHealth is the cause for which an unhealthy node does not lead.
const causeHealth = "health"

// watchHealth starts the health checks. From here on the node does not lead until the operator's
// check has passed.
func (d *Daemon) watchHealth() (err error) {
	h := d.Health
	checks := []health.Check{health.Loop(d.Node.Busy, d.Patience())}
	if h.Memory > 0 {
		checks = append(checks, health.Memory(h.Memory))
	}
	if h.Disk > 0 {
		checks = append(checks, health.Disk(d.DataDir, h.Disk))
	}
	if h.Command != "" {
		if _, err := supervise.Find(health.Shell); err != nil {
			err = fmt.Errorf("a health command needs a shell: %w: name a URL to ask instead", err)
			return FieldError{"Health.Command", wrong(err)}
		}
		checks = append(checks, health.Command(h.Command))
	}
	if h.URL != nil {
		checks = append(checks, health.HTTP(h.URL))
	}
	d.health, err = health.New(health.Config{
		Checks: checks, Interval: h.Interval, Timeout: h.Timeout, Rise: h.Rise, Fall: h.Fall,
		HoldDown: h.HoldDown, MaxHoldDown: mostHolds * h.HoldDown, Needed: d.needed(),
		Report: func(healthy bool, why string) {
			if healthy {
				d.Node.SetEligible(causeHealth, true, "")
				d.log.Info().Str("why", why).Msg("this node is healthy: it may lead")
			} else {
				d.Node.StandAside(causeHealth, why)
				d.log.Warn().Str("why", why).Msg("this node is not fit to lead")
			}
		},
	})
	return err
}

// checked returns the results of the checks, in the form of the HTTP API.
func (d *Daemon) checked() []httpapi.Check {
	var all []httpapi.Check
	for _, c := range d.health.Status().Checks {
		all = append(all, httpapi.Check(c))
	}
	return all
}

// needed returns a function that reports whether no other node could lead.
func (d *Daemon) needed() func() bool {
	n := need{patience: d.Patience()}
	if len(d.Voters) > 0 {
		n.patience = lease.BootWait(d.Promise) + d.Pacing.Latency*time.Duration(standsAfter*(len(d.Voters)+1))
	}
	return func() bool {
		view := d.view.Load()
		return view != nil && n.of(d.Node.Status().Leader.ID != 0, d.anotherCouldLead(*view), time.Now())
	}
}

// need judges whether a node that is held back is needed. It is needed while nobody leads, if no
// other node could lead, or if nobody has led for longer than patience: by then another node would
// have become a candidate.
type need struct {
	patience   time.Duration
	leaderless time.Time // when a call first found that nobody leads; zero while a node leads
}

func (n *need) of(led, anotherCould bool, now time.Time) bool {
	if led {
		n.leaderless = time.Time{}
		return false
	}
	if n.leaderless.IsZero() {
		n.leaderless = now
	}
	return !anotherCould || now.Sub(n.leaderless) > n.patience
}

// standsAfter is a number of latencies. Voters that heard of no leader for the time of a promise
// become candidates one after the other, the best first, each at most this time after the one before.
const standsAfter = 8

// anotherCouldLead reports whether another node is alive and eligible and, if there are voters, is
// a voter.
func (d *Daemon) anotherCouldLead(view membership.View) bool {
	return slices.ContainsFunc(view.Alive, func(m membership.Member) bool {
		return m.ID != d.ID && !m.Ineligible && (len(d.Voters) == 0 || d.Voters.Has(m.ID))
	})
}
