package main

import (
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/fenceagent"
)

// stonithSettings are about stopping a former leader's process.
var stonithSettings = []setting{
	{
		name: "fence-agent",
		usage: "`COMMAND` that stops the process of a former leader that was not seen to stop, run " +
			"before this node takes the office; needs --voters, the same on every node; " +
			"see ringleader fence-agent --help",
		parse: one(func(s *settings, v string) error {
			words, err := fenceagent.Parse(v)
			s.FenceAgent = strings.Join(words, " ")
			return err
		}),
		show: func(s *settings) any { return s.FenceAgent },
	},
	durationSetting("fence-timeout", fenceagent.DefaultTimeout.String(), fenceagent.MinTimeout,
		"`TIME` that one run of the fence agent may take",
		func(s *settings) *time.Duration { return &s.FenceTimeout }),
	{
		name: "pid-file",
		usage: "`FILE` to write that names this process, {id} in it standing for its id, for the " +
			"fence agent pidfile; it stays when the process ends",
		parse: one(func(s *settings, v string) error {
			s.PIDFile = v
			return nil
		}),
		show: func(s *settings) any { return s.PIDFile },
	},
}
