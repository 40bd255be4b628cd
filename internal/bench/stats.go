package bench

import (
	"math"
	"slices"
)

// Summary is the distribution of a measurement, in the unit of its samples.
type Summary struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// summarize returns the zero Summary for no samples.
func summarize(samples []float64) Summary {
	return Summary{P50: quantile(samples, 0.50), P95: quantile(samples, 0.95), Max: quantile(samples, 1)}
}

// quantile returns the smallest sample such that at least the fraction q of all samples are not
// larger (the nearest rank). So the result is always a measured value.
func quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// column takes one number from each sample.
func column[T any](samples []T, of func(T) float64) []float64 {
	values := make([]float64, 0, len(samples))
	for _, s := range samples {
		values = append(values, of(s))
	}
	return values
}

// over returns the summary of the same samples, each divided by n.
func (s Summary) over(n int) Summary {
	d := float64(n)
	return Summary{P50: s.P50 / d, P95: s.P95 / d, Max: s.Max / d}
}
