package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

// execSettings are what `exec` does with its command.
type execSettings struct {
	grace     time.Duration // from SIGTERM to SIGKILL when leadership ends
	killTime  time.Duration // kept for the kernel to end it; derived
	stopGrace time.Duration // the same when this process is told to stop
	restart   string
}

// When exec starts its command again.
const (
	restartElected = "elected" // when this node leads again
	restartAlways  = "always"  // and when the command ended by itself
	restartNever   = "never"
)

var execTable = []setting{
	onlyFor("exec", durationSetting("grace", "what the lease allows; 5s without voters", time.Millisecond,
		"`TIME` that the command has from SIGTERM to SIGKILL when leadership ends; it is "+
			"dead before the lease is",
		func(s *settings) *time.Duration { return &s.exec.grace })),
	onlyFor("exec", withFallback("8s", durationSetting("stop-grace", "", time.Millisecond,
		"`TIME` that the command has when this process is told to stop: the office is kept "+
			"meanwhile",
		func(s *settings) *time.Duration { return &s.exec.stopGrace }))),
	{
		name: "restart", fallback: restartElected, only: "exec",
		usage: "`WHEN` to start the command again: elected: when this node leads again; " +
			"always: when it ended by itself, too; never: this node ends with 75 when it leads no more",
		parse: one(func(s *settings, v string) error {
			s.exec.restart = v
			return oneOf(v, []string{restartElected, restartAlways, restartNever})
		}),
		show: func(s *settings) any { return s.exec.restart },
	},
}

func onlyFor(command string, s setting) setting {
	s.only = command
	return s
}

func withFallback(value string, s setting) setting {
	s.fallback = value
	return s
}

// errGrace: the command would outlive the lease, or never live in peace.
var errGrace = errors.New("grace")

const (
	graceAlone = 5 * time.Second // without a lease
	// killShare is the part of a lease that is kept for the kernel to kill the
	// command, and for a machine that is busy.
	killShare = 20
)

// deriveGrace fits the time in which the command is stopped into the lease. It is
// told to stop when the rest of the lease is just long enough; that must not happen
// while the lease can still be renewed in the ordinary way. A holder asks for a
// renewal twice, a third of a promise apart, and the answers to the second come
// within four latencies:
//
//	grace + lease/20 ≤ lease - 2/3 promise - 4 × latency
func (r *resolved) deriveGrace() error {
	given := r.origins["grace"].Source != "default"
	if len(r.Voters) == 0 {
		if !given {
			r.exec.grace = graceAlone
		}
		return nil
	}
	lasts := lease.Of(r.Promise)
	r.exec.killTime = lasts / killShare
	most := lasts - 2*office.RenewEvery(r.Promise) - 4*r.Latency - r.exec.killTime
	if !given {
		r.exec.grace = max(0, pacing.Neat(most))
		return nil
	}
	if r.exec.grace > most {
		return fmt.Errorf("%w + lease/20 ≤ lease - 2/3 promise - 4 × latency: "+
			"%v + %v > %v - %v - %v: raise --promise or lower --grace to %v at most",
			errGrace, r.exec.grace, r.exec.killTime.Round(time.Millisecond),
			lasts.Round(time.Millisecond),
			(2 * office.RenewEvery(r.Promise)).Round(time.Millisecond),
			4*r.Latency, max(0, pacing.Neat(most)))
	}
	return nil
}
