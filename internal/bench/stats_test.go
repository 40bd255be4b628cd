package bench

import "testing"

// Promise: "p50, p95, max": each is a value that was measured.
func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		name    string
		samples []float64
		want    Summary
	}{
		{"none", nil, Summary{}},
		{"one", []float64{7}, Summary{7, 7, 7}},
		{"two", []float64{9, 3}, Summary{3, 9, 9}},
		{"three, unsorted", []float64{5, 1, 3}, Summary{3, 5, 5}},
		{"a hundred", hundred, Summary{50, 95, 100}},
	} {
		if got := summarize(c.samples); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got, want := (Summary{2, 4, 6}).over(2), (Summary{1, 2, 3}); got != want {
		t.Errorf("half of it is %+v, want %+v", got, want)
	}
	if hundred[0] != 100 {
		t.Error("the samples were sorted in place")
	}
}
