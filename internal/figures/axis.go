package figures

import "math"

// Axis is a logarithmic scale between two powers of ten, in pixels. What is below its
// beginning stands on the line of zero, a little before.
type Axis struct {
	Low, High float64 // of values
	from, to  float64 // in pixels
	zero      float64 // where zero stands
}

// NewAxis spans all positive values, from least on.
func NewAxis(values []float64, least, from, to, zero float64) Axis {
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
	return Axis{low, high, from, to, zero}
}

// At is where a value stands.
func (a Axis) At(v float64) float64 {
	if v < a.Low {
		return a.zero
	}
	part := (math.Log10(v) - math.Log10(a.Low)) / (math.Log10(a.High) - math.Log10(a.Low))
	return a.from + part*(a.to-a.from)
}

// Decades are the powers of ten.
func (a Axis) Decades() (all []float64) {
	for v := a.Low; v <= a.High*1.0001; v *= 10 {
		all = append(all, v)
	}
	return all
}
