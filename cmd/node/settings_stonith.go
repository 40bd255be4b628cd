package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/fenceagent"
)

// minFenceTimeout is the shortest limit in which a process can be run at all.
const minFenceTimeout = 10 * time.Millisecond

// stonithSettings are about stopping a former leader's process.
var stonithSettings = []setting{
	{
		name: "fence-agent",
		usage: "`COMMAND` that stops the process of a former leader that was not seen to stop, run " +
			"before this node takes the office; needs --voters, the same on every node; " +
			"see ringleader fence-agent --help",
		parse: one(func(s *settings, v string) (err error) {
			s.fenceAgent, err = fenceagent.Parse(v)
			return err
		}),
		show: func(s *settings) any { return strings.Join(s.fenceAgent, " ") },
	},
	durationSetting("fence-timeout", fenceagent.DefaultTimeout.String(), minFenceTimeout,
		"`TIME` that one run of the fence agent may take",
		func(s *settings) *time.Duration { return &s.fenceTimeout }),
	{
		name: "pid-file",
		usage: "`FILE` to write that names this process, {id} in it standing for its id, for the " +
			"fence agent pidfile; it stays when the process ends",
		parse: one(func(s *settings, v string) error {
			s.pidFile = v
			return nil
		}),
		show: func(s *settings) any { return s.pidFile },
	},
}

var errFenceVoters = errors.New("a fence agent needs voters: without a majority each side of a " +
	"partition would shoot the other")

// errFence: the algorithm has no use for a fence agent.
var errFence = errors.New("a fence agent")

// deriveFencing checks that whoever shoots has a majority behind it.
func (r *resolved) deriveFencing() error {
	if !r.has("fence-timeout") {
		r.fenceTimeout = fenceagent.DefaultTimeout
		r.origins["fence-timeout"] = origin{Source: "default"}
	}
	for _, name := range []string{"fence-agent", "pid-file"} {
		if !r.has(name) {
			r.origins[name] = origin{Source: "default"}
		}
	}
	if len(r.fenceAgent) == 0 {
		return nil
	}
	if len(r.voters) == 0 {
		return fmt.Errorf("%w: name them with --voters", errFenceVoters)
	}
	if !r.algorithm.Fences {
		return fmt.Errorf("%w: %s does not wait for one before it leads: leave --fence-agent out, or take "+
			"an algorithm that nominates, as bully", errFence, r.algorithm.Name)
	}
	if len(r.voters) <= 2 {
		r.warnings = append(r.warnings, fmt.Sprintf("%d voters and a fence agent: no majority "+
			"survives the loss of one, so nobody is ever shot", len(r.voters)))
	}
	return nil
}
