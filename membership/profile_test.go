package membership

import (
	"testing"
	"time"
)

// Promise: a failover budget derives memberlist's probe settings, within bounds.
func TestProbingWithin(t *testing.T) {
	const ms = time.Millisecond
	for budget, want := range map[time.Duration]Probing{
		time.Second:   {1000 * ms, 500 * ms, 500 * ms},
		500 * ms:      {500 * ms, 250 * ms, 250 * ms},
		50 * ms:       {200 * ms, 100 * ms, 100 * ms},
		5 * time.Hour: {5000 * ms, 2500 * ms, 2500 * ms},
	} {
		got := ProbingWithin(budget)
		s := lan()
		if err := s.probe(got); err != nil || got != want || s.probeInterval != want.Interval {
			t.Errorf("budget %v: %+v, %v; want %+v", budget, got, err, want)
		}
	}
}

// Promise: settings that contradict each other are refused; without any the
// profile's stay.
func TestProbingIsChecked(t *testing.T) {
	s := lan()
	if err := s.probe(Probing{}); err != nil || s != lan() {
		t.Errorf("%v, %+v", err, s)
	}
	for _, p := range []Probing{
		{Interval: time.Second},
		{Interval: time.Second, Timeout: time.Second, Gossip: time.Second},
		{Interval: time.Second, Timeout: 1, Gossip: -1},
	} {
		if err := s.probe(p); err == nil {
			t.Errorf("%+v: accepted", p)
		}
	}
}
