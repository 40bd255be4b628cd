package rounds

import (
	"fmt"
	"math"
	"time"
)

// Span returns a duration as text for people, in a unit that fits and with three digits: "0.31 ms",
// "44.3 ms", "1.20 s", "12m30s".
func Span(d time.Duration) string {
	if d < 0 {
		return "-" + Span(-max(d, -math.MaxInt64)) // the least one has no positive
	}
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d == 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", ms)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", ms)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", ms)
	case d < 100*time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
