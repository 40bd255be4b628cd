package main

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

// causeHealth is the cause for which an unhealthy node does not lead.
const causeHealth = "health"

// watchHealth makes what asks the checks. From here on the node does not lead until
// the operator's has passed.
func (d *daemon) watchHealth() (err error) {
	h := d.settings.health
	checks := []health.Check{health.Loop(d.node.Busy, d.patience())}
	if h.memory > 0 {
		checks = append(checks, health.Memory(h.memory))
	}
	if h.disk > 0 {
		checks = append(checks, health.Disk(d.dataDir, h.disk))
	}
	if h.command != "" {
		if _, err := supervise.Find(health.Shell); err != nil {
			return mark(errConfig, fmt.Errorf("--health-cmd needs a shell: %w: use --health-http", err))
		}
		checks = append(checks, health.Command(h.command))
	}
	if h.url != nil {
		checks = append(checks, health.HTTP(h.url))
	}
	d.health, err = health.New(health.Config{
		Checks: checks, Interval: h.interval, Timeout: h.timeout, Rise: h.rise, Fall: h.fall,
		HoldDown: h.holdDown, MaxHoldDown: mostHolds * h.holdDown, Needed: d.needed(),
		Report: func(healthy bool, why string) {
			if healthy {
				d.node.SetEligible(causeHealth, true, "")
				d.log.Info().Str("why", why).Msg("this node is healthy: it may lead")
			} else {
				d.node.StandAside(causeHealth, why)
				d.log.Warn().Str("why", why).Msg("this node is not fit to lead")
			}
		},
	})
	return err
}

// checked is what the checks say, for the HTTP API.
func (d *daemon) checked() []httpapi.Check {
	var all []httpapi.Check
	for _, c := range d.health.Status().Checks {
		all = append(all, httpapi.Check(c))
	}
	return all
}

// needed reports, each time that it is asked, whether nobody but this node could lead.
func (d *daemon) needed() func() bool {
	n := need{patience: d.patience()}
	if len(d.voters) > 0 {
		n.patience = lease.BootWait(d.promise) + d.pacing.latency*time.Duration(standsAfter*(len(d.voters)+1))
	}
	return func() bool {
		view := d.view.Load()
		return view != nil && n.of(d.node.Status().Leader.ID != 0, d.anotherCouldLead(*view), time.Now())
	}
}

// need judges whether a node that is held back is needed: nobody leads, and no other is alive
// and eligible, or none has led for so long that one that could would have stood.
type need struct {
	patience   time.Duration
	leaderless time.Time // since when, as far as was asked
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

// standsAfter is how many latencies, at most, a voter stands after the next better one where
// no leader was heard of for a promise.
const standsAfter = 8

// anotherCouldLead reports whether another node is alive, eligible and, with voters, one.
func (d *daemon) anotherCouldLead(view membership.View) bool {
	return slices.ContainsFunc(view.Alive, func(m membership.Member) bool {
		return m.ID != d.id && !m.Ineligible && (len(d.voters) == 0 || d.voters.Has(m.ID))
	})
}
