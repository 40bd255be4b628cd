package rounds

import (
	"testing"
	"time"
)

// "elapsed returns to.Sub(from)."
func TestElapsed(t *testing.T) {
	now := time.Date(2026, 11, 28, 7, 0, 0, 1, time.UTC)
	times := []time.Time{
		{},
		now, now.Add(-2), now.Add(1500 * time.Millisecond), now.AddDate(130, 0, 0), now.AddDate(140, 0, 0),
		now.AddDate(290, 0, 0), now.AddDate(300, 0, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0),
	}
	for _, from := range times {
		for _, to := range times {
			if got, want := elapsed(from, to), to.Sub(from); got != want {
				t.Errorf("from %v to %v: %d ns, want %d", from, to, got, want)
			}
		}
	}
}
