package chart

import "testing"

// Names at the end of curves do not cover each other, nor leave the chart.
func TestApart(t *testing.T) {
	heights := make([]float64, 14)
	for i := range heights {
		heights[i] = []float64{20, 21, 360, 358}[i%4]
	}
	moved := apart(heights, 14, 370)
	for i, at := range moved {
		if at < 14 || at > 370 {
			t.Errorf("name %d stands at %v", i, at)
		}
		for j := range i {
			if d := at - moved[j]; d > -nameHeight+0.01 && d < nameHeight-0.01 {
				t.Errorf("names %d and %d stand %v apart", i, j, d)
			}
		}
	}
}
