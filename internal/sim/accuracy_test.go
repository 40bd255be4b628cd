package sim

import (
	"errors"
	"testing"
	"time"
)

// "Inaccuracy in FD => N80 mistakenly detected as failed => new election runs initiated forever => Violation of
// Liveness": the less accurate, the more rounds, and the longer nobody leads. With the votes of a majority, whose
// promises a false alarm does not end, the leader leads on.
func TestWaste(t *testing.T) {
	waste := func(a Algorithm, accuracy float64) Wasted {
		t.Helper()
		w, err := Waste(Options{Algorithm: a, Nodes: 5, Seed: 1}, accuracy, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	ring := algorithmOf(t, "ring")
	right, good, bad := waste(ring, 100), waste(ring, 99), waste(ring, 50)
	if right.Errors+right.Rounds > 0 || right.DisagreedSeconds > 0 || right.Looks == 0 {
		t.Errorf("detectors that do not err: %+v", right)
	}
	if good.Rounds == 0 || bad.Rounds < 5*good.Rounds || bad.LeaderlessSeconds <= good.LeaderlessSeconds {
		t.Errorf("99 %%: %+v\n50 %%: %+v", good, bad)
	}
	if again := waste(ring, 50); again != bad {
		t.Errorf("the same seed: first %+v, then %+v", bad, again)
	}
	if w := waste(leased(t, "ring"), 50); w.Same+w.Other > 0 || w.LeaderlessSeconds > 0 || w.Errors == 0 {
		t.Errorf("with a lease: %+v", w)
	}
	for _, accuracy := range []float64{-1, 101} {
		if _, err := Waste(Options{Algorithm: ring, Nodes: 5}, accuracy, time.Second); !errors.Is(err, ErrOptions) {
			t.Errorf("%v %%: %v", accuracy, err)
		}
	}
}
