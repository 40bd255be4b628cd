package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
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
			s.reconcileCmd = v
			return nil
		}),
		show: func(s *settings) any { return s.reconcileCmd },
	},
	{
		name: "reconcile-timeout", fallback: "30s",
		usage: "`TIME` after which a run of the reconcile command is killed",
		parse: one(func(s *settings, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < time.Millisecond || d > maxReconcile {
				return fmt.Errorf("want a time with its unit, like 30s, from 1ms to %v", maxReconcile)
			}
			s.reconcileTimeout = d
			return nil
		}),
		show: func(s *settings) any { return s.reconcileTimeout.String() },
	},
}

// maxReconcile bounds one run of the reconcile command: nobody leads meanwhile.
const maxReconcile = 24 * time.Hour

// deriveMending puts the mending of split brains around an algorithm that does not
// prevent them.
func (r *resolved) deriveMending() {
	if !r.has("reconcile-cmd") {
		r.origins["reconcile-cmd"] = origin{Source: "default"}
	}
	r.algorithm = r.algorithm.WithMending()
	if r.reconcileCmd != "" && !r.algorithm.Mends {
		r.warnings = append(r.warnings, "the reconcile command will not run: with voters there are "+
			"never two leaders")
	}
}
