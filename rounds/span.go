package rounds

import (
	"fmt"
	"math"
	"time"
)

// elapsed returns to.Sub(from). That asks each time whether the duration overflows: here only that of more than a
// hundred years may.
func elapsed(from, to time.Time) time.Duration {
	const most = 1 << 32
	seconds := to.Unix() - from.Unix()
	if seconds < -most || seconds > most {
		return to.Sub(from)
	}
	return time.Duration(seconds)*time.Second + time.Duration(to.Nanosecond()-from.Nanosecond())
}

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
