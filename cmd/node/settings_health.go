package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/internal/health"
)

// healthSettings say what makes this node unfit to lead.
type healthSettings struct {
	command                     string
	url                         *url.URL
	interval, timeout, holdDown time.Duration
	rise, fall                  int
	memory, disk                int // percent in use; 0: not looked at
}

// mostHolds is how often a hold-down doubles, as a factor.
const mostHolds = 32

var healthTable = []setting{
	{
		name: "health-cmd",
		usage: "`COMMAND` for /bin/sh that ends with 0 while this node is fit to lead: an " +
			"unhealthy leader resigns, an unhealthy node does not stand",
		parse: one(func(s *settings, v string) error {
			s.health.command = v
			return nil
		}),
		show: func(s *settings) any { return s.health.command },
	},
	{
		name: "health-http",
		usage: "the same by HTTP: a GET of `URL` is answered with a status from 200 to 399 " +
			"while this node is fit to lead",
		parse: one(func(s *settings, v string) (err error) {
			s.health.url, err = health.ParseURL(v)
			return err
		}),
		show: func(s *settings) any {
			if s.health.url == nil {
				return ""
			}
			return s.health.url.Redacted()
		},
	},
	withFallback("5s", durationSetting("health-interval", "", 10*time.Millisecond,
		"`TIME` from one asking of a check to the next",
		func(s *settings) *time.Duration { return &s.health.interval })),
	withFallback("2s", durationSetting("health-timeout", "", 10*time.Millisecond,
		"`TIME` that a check may take, then it is ended and has failed",
		func(s *settings) *time.Duration { return &s.health.timeout })),
	countSetting("health-rise", "2", 1, 1000,
		"`NUMBER` of passes in a row that make a failed check well",
		func(s *settings) *int { return &s.health.rise }),
	countSetting("health-fall", "3", 1, 1000,
		"`NUMBER` of failures in a row that make a check fail",
		func(s *settings) *int { return &s.health.fall }),
	withFallback("10s", durationSetting("health-hold-down", "", time.Millisecond,
		"`TIME` for which all checks of a node that was unhealthy are well before it stands "+
			"again, unless nobody else could lead; it doubles each time",
		func(s *settings) *time.Duration { return &s.health.holdDown })),
	countSetting("health-memory", "99", 0, 100,
		"`PERCENT` of the memory in use from which on this node is unhealthy; 0: never",
		func(s *settings) *int { return &s.health.memory }),
	countSetting("health-disk", "100", 0, 100,
		"`PERCENT` of the disk of --data-dir in use from which on this node is unhealthy; "+
			"below 1 MiB free it always is; 0: never",
		func(s *settings) *int { return &s.health.disk }),
}

// countSetting is a whole number.
func countSetting(name, fallback string, least, most int, usage string,
	field func(*settings) *int,
) setting {
	return setting{
		name: name, fallback: fallback, usage: usage,
		parse: one(func(s *settings, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < least || n > most {
				return fmt.Errorf("want a number from %d to %d", least, most)
			}
			*field(s) = n
			return nil
		}),
		show: func(s *settings) any { return *field(s) },
	}
}

// errHealth: the health settings do not fit together.
var errHealth = errors.New("health")

func (r *resolved) deriveHealth() error {
	for _, name := range []string{"health-cmd", "health-http"} {
		if !r.has(name) {
			r.origins[name] = origin{Source: "default"}
		}
	}
	if r.health.command != "" && r.health.url != nil {
		return fmt.Errorf("%w: both health-cmd (%s) and health-http (%s) are given: give one",
			errHealth, r.origins["health-cmd"], r.origins["health-http"])
	}
	return nil
}
