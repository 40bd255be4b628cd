package rounds_test

import (
	"math"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 310 * time.Microsecond: "0.31 ms", 44321 * time.Microsecond: "44.3 ms",
		337 * time.Millisecond: "337 ms", 1200 * time.Millisecond: "1.2 s", 750 * time.Second: "12m30s",
		-2 * time.Second: "-2 s", math.MinInt64: "-2562047h47m16.854775807s",
	} {
		if got := rounds.Span(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}
