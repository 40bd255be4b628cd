package long

import (
	"slices"
	"testing"
)

func TestSizes(t *testing.T) { wantSizes(t, 3, "ant", "bee") }

func TestLongSizes(t *testing.T) { wantSizes(t, 70, "", "asp", "bug") }

func wantSizes(t *testing.T, runs int, part ...string) {
	t.Helper()
	t.Run("in a part of the test", func(t *testing.T) {
		if got := Runs(t, 3, 70); got != runs {
			t.Errorf("%d runs, want %d", got, runs)
		}
		insects := []string{"", "ant", "asp", "bee", "bug"}
		if got := OnePer(t, insects, func(s string) string { return s[:min(1, len(s))] }); !slices.Equal(got, part) {
			t.Errorf("%v, want %v", got, part)
		}
	})
}
