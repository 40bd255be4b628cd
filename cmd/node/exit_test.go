package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
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

// "Each finding … has its own exit code": one that means nothing else, neither here
// nor to a shell or by sysexits; and of several rounds.Tally the gravest decides.
func TestFindingCodes(t *testing.T) {
	means := map[int]string{}
	for _, row := range exits {
		means[row.code] = row.meaning
	}
	var all rounds.Tally
	for _, kind := range slices.Backward(rounds.FindingKinds) {
		if kind.Code <= 0 || kind.Code >= 64 || means[kind.Code] != "" {
			t.Errorf("%s: exit code %d is taken: %s", kind.Name, kind.Code, means[kind.Code])
		}
		means[kind.Code] = kind.Meaning
		var one rounds.Tally
		one.Add(rounds.Finding{Name: kind.Name})
		all.Add(rounds.Finding{Name: kind.Name})
		for _, found := range []rounds.Tally{one, all} {
			// A log beside it that could not be read does not hide what was found.
			ended, ok := errors.AsType[coded](errors.Join(found, errUnread))
			if !ok || ended.Code() != kind.Code {
				t.Errorf("%s: ended with %v, want code %d", kind.Name, ended, kind.Code)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "EXIT-CODES.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range rounds.FindingKinds {
		if row := fmt.Sprintf("| %d | `%s`", kind.Code, kind.Name); !strings.Contains(string(page), row) {
			t.Errorf("docs/EXIT-CODES.md has no %s", row)
		}
	}
	if first, last := findingCodes(); last-first != len(rounds.FindingKinds)-1 {
		t.Errorf("the help says %d to %d of %d kinds", first, last, len(rounds.FindingKinds))
	}
}

func TestReport(t *testing.T) {
	var stderr bytes.Buffer
	err := errors.Join(errors.New("one"), mark(errConfig, errors.New("two")))
	if code := sayError(&stderr, err); code != exitConfig {
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
