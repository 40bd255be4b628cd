package words

import "testing"

// "All 2 others that it believed alive": a count of one or two is told in words.
func TestAll(t *testing.T) {
	for n, want := range map[int]string{1: "the only other", 2: "both others", 3: "all 3 others"} {
		if got := All(n, "other"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
