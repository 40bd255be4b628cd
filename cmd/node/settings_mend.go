package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader"
)

// mendSettings are about what happens when leaders meet after a split brain.
var mendSettings = []setting{
	{
		name: "reconcile-cmd",
		usage: "shell `COMMAND` that reconciles what two leaders did at once, run when both have " +
			"stopped and before one is elected; at least once a split",
		parse: one(func(s *settings, v string) error {
			if strings.ContainsRune(v, 0) {
				return errors.New("want a command without a zero byte")
			}
			s.ReconcileCmd = v
			return nil
		}),
		show: func(s *settings) any { return s.ReconcileCmd },
	},
	{
		name: "reconcile-timeout", fallback: "30s",
		usage: "`TIME` after which a run of the reconcile command is killed",
		parse: one(func(s *settings, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < time.Millisecond || d > ringleader.MaxReconcile {
				return fmt.Errorf("want a time with its unit, like 30s, from 1ms to %v", ringleader.MaxReconcile)
			}
			s.ReconcileTimeout = d
			return nil
		}),
		show: func(s *settings) any { return s.ReconcileTimeout.String() },
	},
}
