package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/internal/health"
)

var healthTable = []setting{
	{
		name: "health-cmd",
		usage: "`COMMAND` for /bin/sh that ends with 0 while this node is fit to lead: an " +
			"unhealthy leader resigns, an unhealthy node does not stand",
		parse: one(func(s *settings, v string) error {
			s.Health.Command = v
			return nil
		}),
		show: func(s *settings) any { return s.Health.Command },
	},
	{
		name: "health-http",
		usage: "the same by HTTP: a GET of `URL` is answered with a status from 200 to 399 " +
			"while this node is fit to lead",
		parse: one(func(s *settings, v string) error {
			_, err := health.ParseURL(v)
			s.Health.URL = v
			return err
		}),
		show: func(s *settings) any {
			u, err := health.ParseURL(s.Health.URL)
			if err != nil {
				return ""
			}
			return u.Redacted()
		},
	},
	withFallback("5s", durationSetting("health-interval", "", 10*time.Millisecond,
		"`TIME` from one asking of a check to the next",
		func(s *settings) *time.Duration { return &s.Health.Interval })),
	withFallback("2s", durationSetting("health-timeout", "", 10*time.Millisecond,
		"`TIME` that a check may take, then it is ended and has failed",
		func(s *settings) *time.Duration { return &s.Health.Timeout })),
	countSetting("health-rise", "2", 1, 1000,
		"`NUMBER` of passes in a row that make a failed check well",
		func(s *settings) *int { return &s.Health.Rise }),
	countSetting("health-fall", "3", 1, 1000,
		"`NUMBER` of failures in a row that make a check fail",
		func(s *settings) *int { return &s.Health.Fall }),
	withFallback("10s", durationSetting("health-hold-down", "", time.Millisecond,
		"`TIME` for which all checks of a node that was unhealthy are well before it stands "+
			"again, unless nobody else could lead; it doubles each time",
		func(s *settings) *time.Duration { return &s.Health.HoldDown })),
	percentSetting("health-memory", "99",
		"`PERCENT` of the memory in use from which on this node is unhealthy; 0: never",
		func(s *settings) *int { return &s.Health.Memory }),
	percentSetting("health-disk", "100",
		"`PERCENT` of the disk of --data-dir in use from which on this node is unhealthy; "+
			"below 1 MiB free it always is; 0: never",
		func(s *settings) *int { return &s.Health.Disk }),
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

// percentSetting is a percentage, zero for never.
func percentSetting(name, fallback, usage string, field func(*settings) *int) setting {
	s := countSetting(name, fallback, 0, 100, usage, field)
	parse := s.parse
	s.parse = func(s *settings, values []string) error {
		err := parse(s, values)
		if *field(s) == 0 {
			*field(s) = -1 // as ringleader.Health has it
		}
		return err
	}
	s.show = func(s *settings) any { return max(0, *field(s)) }
	return s
}

// errHealth: the health settings do not fit together.
var errHealth = errors.New("health")

func (r *resolved) checkHealth() error {
	if r.Health.Command != "" && r.Health.URL != "" {
		return fmt.Errorf("%w: both health-cmd (%s) and health-http (%s) are given: give one",
			errHealth, r.origins["health-cmd"], r.origins["health-http"])
	}
	return nil
}
