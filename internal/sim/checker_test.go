package sim

import (
	"context"
	"slices"
	"testing"
	"time"
)

func toyAlgorithm(f flaw) Algorithm {
	return Algorithm{
		Name: "toy", Guarantee: "best-effort", New: newToy(f),
		Agreement: func(delta time.Duration, _ int) time.Duration { return 200 * delta },
	}
}

// An invariant that nothing was ever seen to break proves nothing: for each
// there is a Machine that breaks it, and the checker says so.
func TestEachCheckerFindsItsFlaw(t *testing.T) {
	for flaw, invariant := range map[flaw]string{
		forgetful:     "term-rises",
		hasty:         "durable-first",
		gullible:      "newer-stands",
		credulous:     "named-claimed",
		reborn:        "one-life-leads",
		stubborn:      "taken-once",
		restless:      "aside-never-leads",
		pushy:         "ineligible-never-stands",
		sleepy:        "looking-has-timer",
		spinning:      "deadline-ahead",
		jumpy:         "spurious-harmless",
		ventriloquist: "speaks-for-itself",
		stormy:        "damped",
		impure:        "pure",
		deafened:      "agreement",
		fidgety:       "quiet",
		presumptuous:  "best-leads",
		talkative:     "ends",
	} {
		t.Run(string(flaw), func(t *testing.T) {
			for seed := range uint64(200) {
				r, err := Run(Options{Algorithm: toyAlgorithm(flaw), Seed: seed, Nodes: 4})
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(r.Violations, func(v Violation) bool {
					return v.Name == invariant
				}) {
					return
				}
			}
			t.Errorf("no run reported %s", invariant)
		})
	}
}

// A Machine without a flaw breaks nothing.
func TestSoundMachineIsClean(t *testing.T) {
	s, err := Batch(context.Background(), Options{Algorithm: toyAlgorithm(sound)}, 1000, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Violations) > 0 {
		t.Errorf("%v\n%s", s.Violations[0].Violation, s.Violations[0].Repro)
	}
}
