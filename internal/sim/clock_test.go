package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A timer rings when its node's clock has reached the deadline, not a nanosecond
// of true time earlier or later, however wrong the clock is.
func TestClockRingsInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := clock{
			offset:   time.Duration(rapid.Int64Range(-1e10, 1e10).Draw(t, "offset")),
			driftPPM: rapid.Int64Range(-maxDriftPPM, maxDriftPPM).Draw(t, "drift"),
		}
		set := time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "now"))
		wait := time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "wait"))
		deadline := c.read(set).Add(wait)

		rings := c.when(deadline)
		if rings < set {
			t.Fatalf("rings at %v, before it is set at %v", rings, set)
		}
		if c.read(rings).Before(deadline) {
			t.Fatalf("rings %v early", deadline.Sub(c.read(rings)))
		}
		if !c.read(rings - 1).Before(deadline) {
			t.Fatal("might have rung a nanosecond earlier")
		}
	})
}

func TestClockNeverGoesBack(t *testing.T) {
	slow := clock{driftPPM: -maxDriftPPM}
	for at := range 10 * time.Microsecond {
		if slow.read(at + 1).Before(slow.read(at)) {
			t.Fatalf("goes back after %v", at)
		}
	}
}
