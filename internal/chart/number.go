package chart

import (
	"fmt"
	"math"
	"time"
)

// Number formats x with about three significant digits.
func Number(x float64) string {
	switch {
	case x >= 1000 || x == float64(int(x)):
		return fmt.Sprintf("%.0f", x)
	case x >= 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// short formats the number at a line of an axis.
func short(v float64) string {
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.4g G", v/1e9)
	case v >= 1e6:
		return fmt.Sprintf("%.4g M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.4g k", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}

// Millis returns d in milliseconds, to the microsecond.
func Millis(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
