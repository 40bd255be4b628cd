package membership

import (
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// Promise: a failover budget derives memberlist's probe settings, within bounds.
func TestProbingWithinTheBudget(t *testing.T) {
	const ms = time.Millisecond
	for budget, interval := range map[time.Duration]time.Duration{
		time.Second:   1000 * ms,
		500 * ms:      500 * ms,
		50 * ms:       200 * ms,
		5 * time.Hour: 5000 * ms,
		0:             1000 * ms, // the profile's
	} {
		var got memberlist.Config
		s, err := LAN.settings(budget)
		s.apply(&got)
		if want := (Probing{interval, interval / 2, interval / 2}); budget > 0 && ProbingWithin(budget) != want {
			t.Errorf("budget %v: %+v, want %+v", budget, ProbingWithin(budget), want)
		}
		if err != nil || got.ProbeInterval != interval || got.ProbeTimeout != interval/2 ||
			got.GossipInterval != interval/2 {
			t.Errorf("budget %v: every %v, timeout %v, gossip every %v, %v; want every %v, half of it",
				budget, got.ProbeInterval, got.ProbeTimeout, got.GossipInterval, err, interval)
		}
	}
	if _, err := LAN.settings(-1); err == nil {
		t.Error("a negative budget is accepted")
	}
}
