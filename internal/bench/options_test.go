package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

func TestParseSignal(t *testing.T) {
	for text, want := range map[string]Signal{
		"KILL": Kill, "sigstop": Stop, "SIGTERM": Term, "cut": Cut, "docker": Docker,
	} {
		if got, err := ParseSignal(text); got != want || err != nil {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	_, err := ParseSignal("HUP")
	if err == nil || !strings.Contains(err.Error(), "KILL, STOP, TERM, CUT, DOCKER") {
		t.Errorf("HUP: %v", err)
	}
}

// "Bad input, at least: … a bench asked for more nodes than the machine can
// hold": the refusal shows the arithmetic.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		name      string
		nodes     int
		available int
		files     uint64
		want      string // "" for no refusal
	}{
		{"fits", 5, 1000, 1024, ""},
		{"memory unknown", 5, 0, 1024, ""},
		{"memory", 100, 1000, 1024, "100 nodes × 33.9 MiB = 3390 MiB, but 1000 MiB are available"},
		{"files of a node", 101, 100000, 200, "24 + 2 × 100 = 224 files, but the limit is 200"},
		{"files of the bench", 60, 100000, 200, "opens 4 × 60 = 240 files, but the limit is 200"},
	} {
		err := fits(c.nodes, c.available, c.files)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!errors.Is(err, ErrCapacity) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRefusedOptions(t *testing.T) {
	good := Options{Nodes: 3, Entry: catalog.All()[0], Profile: "lan"}
	one, huge := good, good
	one.Nodes, huge.Nodes = 1, 1_000_000
	failover := func(o FailoverOptions) error {
		_, err := Failover(t.Context(), o, []catalog.Entry{o.Entry})
		return err
	}
	secured := good
	secured.Secured = true
	scale := func(o ScaleOptions) error { _, err := Scale(t.Context(), o); return err }
	_, alarms := Alarms(t.Context(), AlarmsOptions{Options: good})
	_, hop := Hop(t.Context(), HopOptions{Options: good})
	for name, c := range map[string]struct{ got, want error }{
		"no kill":   {failover(FailoverOptions{Options: good, Signal: Kill}), ErrOptions},
		"one node":  {failover(FailoverOptions{Options: one, Kills: 1, Signal: Kill}), ErrOptions},
		"a million": {failover(FailoverOptions{Options: huge, Kills: 1, Signal: Kill}), ErrCapacity},
		"credentials in containers": {
			failover(FailoverOptions{Options: secured, Kills: 1, Signal: Docker}), ErrOptions,
		},
		"credentials against another build": {
			failover(FailoverOptions{Options: secured, Kills: 1, Signal: Kill, Against: "other"}), ErrOptions,
		},
		"no trip": {hop, ErrOptions},
		"no time": {alarms, ErrOptions},
		"no size": {scale(ScaleOptions{Options: good, Kills: 1, Idle: time.Second}), ErrOptions},
		"one of its sizes is too large": {
			scale(ScaleOptions{Options: good, Kills: 1, Idle: time.Second, Sizes: []int{2, 1e6}}),
			ErrCapacity,
		},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
