package main

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/health"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/supervise"
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
		HoldDown: h.holdDown, MaxHoldDown: mostHolds * h.holdDown,
		Report: func(healthy bool, why string) {
			d.node.SetEligible(causeHealth, healthy, why)
			if healthy {
				d.log.Info().Msg("this node is healthy: it may lead")
			} else {
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
