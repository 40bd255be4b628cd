package clock_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// Readings never go back, and go on.
func TestNowGoesOn(t *testing.T) {
	first := clock.Now()
	last := first
	for deadline := time.Now().Add(time.Minute); last.Sub(first) < time.Millisecond; {
		now := clock.Now()
		if now.Before(last) {
			t.Fatalf("%v after %v", now, last)
		}
		if time.Now().After(deadline) {
			t.Fatal("the clock stands still")
		}
		last = now
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		clock.Now()
	}
}

// Two processes name one instant alike: what SinceBoot gives depends on the
// reading alone.
func TestSinceBoot(t *testing.T) {
	now := clock.Now()
	if got := clock.SinceBoot(now.Add(time.Hour)) - clock.SinceBoot(now); got != time.Hour {
		t.Errorf("an hour is %v", got)
	}
	if clock.SinceBoot(clock.Now()) < clock.SinceBoot(now) {
		t.Error("it went back")
	}
}
