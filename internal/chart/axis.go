package chart

import "math"

// axis maps values to pixels, on a logarithmic scale between two powers of ten. A value below low
// is drawn at zero, a little before the axis begins.
type axis struct {
	low, high float64 // the values at its ends
	from, to  float64 // the pixels of its ends
	zero      float64 // the pixel at which zero is drawn
}

// newAxis makes an axis for all values that are not below least.
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

// at returns the pixel of a value.
func (a axis) at(v float64) float64 {
	if v < a.low {
		return a.zero
	}
	part := (math.Log10(v) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	return a.from + part*(a.to-a.from)
}

// decades returns the powers of ten on the axis.
func (a axis) decades() (all []float64) {
	for v := a.low; v <= a.high*1.0001; v *= 10 {
		all = append(all, v)
	}
	return all
}
