package long

import "testing"

func TestRuns(t *testing.T) { wantRuns(t, 3) }

func TestLongRuns(t *testing.T) { wantRuns(t, 70) }

func wantRuns(t *testing.T, want int) {
	t.Helper()
	t.Run("in a part of the test", func(t *testing.T) {
		if got := Runs(t, 3, 70); got != want {
			t.Errorf("%d runs, want %d", got, want)
		}
	})
}
