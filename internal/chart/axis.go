package chart

import "math"

// axis is a logarithmic scale between two powers of ten, in pixels. What is below its
// beginning stands on the line of zero, a little before.
type axis struct {
	low, high float64 // of values
	from, to  float64 // in pixels
	zero      float64 // where zero stands
}

// newAxis spans all positive values, from least on.
func newAxis(values []float64, least, from, to, zero float64) axis {
	low, high := math.Inf(1), least
	for _, v := range values {
		if v >= least {
			low, high = min(low, v), max(high, v)
		}
	}
	if math.IsInf(low, 1) {
		low = least
	}
	low = math.Pow(10, math.Floor(math.Log10(low)))
	high = max(math.Pow(10, math.Ceil(math.Log10(high))), 10*low)
	return axis{low, high, from, to, zero}
}

// at is where a value stands.
func (a axis) at(v float64) float64 {
	if v < a.low {
		return a.zero
	}
	part := (math.Log10(v) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	return a.from + part*(a.to-a.from)
}

// decades are the powers of ten.
func (a axis) decades() (all []float64) {
	for v := a.low; v <= a.high*1.0001; v *= 10 {
		all = append(all, v)
	}
	return all
}
