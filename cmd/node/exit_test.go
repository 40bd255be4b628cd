package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestExitCode(t *testing.T) {
	other := errors.New("something else")
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{other, exitError},
		{usagef("no such flag"), exitUsage},
		{fmt.Errorf("run: %w", mark(errConfig, other)), exitConfig},
		{fmt.Errorf("ask: %w", context.DeadlineExceeded), exitNoLeader},
		{mark(errNoLeader, other), exitNoLeader},
		{mark(errNotLeader, other), exitNotLeader},
		{mark(errInterrupted, other), exitInterrupted},
		// What was wrong on the command line is told first.
		{errors.Join(mark(errConfig, other), usagef("no such flag")), exitUsage},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
	if mark(errConfig, nil) != nil {
		t.Error("no error, marked, is an error")
	}
}

func TestReport(t *testing.T) {
	var stderr bytes.Buffer
	err := errors.Join(errors.New("one"), mark(errConfig, errors.New("two")))
	if code := report(&stderr, err); code != exitConfig {
		t.Errorf("exit code %d", code)
	}
	if want := "ringleader: one\nringleader: two\n"; stderr.String() != want {
		t.Errorf("printed %q, want %q", stderr.String(), want)
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"run", "status", "leader", "health"}
	for given, want := range map[string]string{
		"runn": "run", "staus": "status", "laeder": "leader", "helth": "health", "x": "", "demo": "",
	} {
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got := didYouMean(given, known); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
