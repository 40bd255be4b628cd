package ruleout

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/cost"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

func player() sim.Player {
	return sim.Player{Words: true, Lookup: func(s sim.Shape) (sim.Algorithm, error) {
		e, err := catalog.Lookup(s.Algorithm)
		if s.Leased {
			e = e.WithLease()
		}
		return cost.Simulated(e), err
	}}
}

// Each rule's harm appears without it, and does not with it.
func TestEachRulePreventsItsHarm(t *testing.T) {
	elections := func(o Outcome) int { return o.Messages["ELECTION"] }
	harms := map[string]struct {
		sentence string // of the lecture notes
		harm     func(o Outcome) bool
	}{
		"fencing": {
			"if fencing_token < self.current_token: raise StaleLeaderError",
			func(o Outcome) bool { return len(o.Lost) == 1 && o.Lost[0] == sim.Write{Token: 100, Before: 101} },
		},
		"lease-first": {
			"Old leader's lease must expire before new election",
			func(o Outcome) bool { return o.ContestedSeconds > 1 && violates(o, "one-holder") },
		},
		"majority": {
			"can't have two majorities",
			func(o Outcome) bool { return o.ContestedSeconds > 4 && violates(o, "one-holder") },
		},
		"bully-start": {
			"starts its own leader election protocol",
			func(o Outcome) bool { return o.Leader == 0 && o.LeaderlessSeconds > 1.9 },
		},
		"bully-once": {
			"(unless it has already done so)",
			func(o Outcome) bool { return elections(o) > 100 },
		},
		"ring-forwarded": {
			"pi has not forwarded an election message earlier",
			func(o Outcome) bool { return elections(o) == 1<<7-1 }, // 2N-1 hops of a message that doubles at each
		},
		"ring-suppress": {
			"suppresses Election/Elected messages of any lower-id initiators",
			func(o Outcome) bool { return elections(o) > 40 },
		},
	}
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			h, ok := harms[r.Name]
			if !ok || !strings.Contains(r.Sentence, h.sentence) {
				t.Fatalf("the rule says %q, want %q", r.Sentence, h.sentence)
			}
			told, err := r.Tell(player(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if leaders := told.Without.ContestedSeconds > 0; !leaders && len(told.Without.Violations) > 0 {
				t.Errorf("it lacks more than the rule: %v", told.Without.Violations)
			}
			if !h.harm(told.Without) {
				t.Errorf("no harm without it: %+v", told.Without)
			}
			if h.harm(told.With) || len(told.With.Violations) > 0 || told.With.Leader == 0 {
				t.Errorf("harm with it: %+v", told.With)
			}
		})
	}
}

func violates(o Outcome, invariant string) bool {
	for _, v := range o.Violations {
		if v.Name == invariant {
			return true
		}
	}
	return false
}

// A rule is also taken out of runs under random faults, whose checkers then find what it prevents.
func TestRunsWithoutARuleBreakAnInvariant(t *testing.T) {
	bully, err := catalog.Lookup("bully")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"majority", "lease-first"} {
		r, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.From(cost.Simulated(bully.WithLease()))
		if err != nil {
			t.Fatal(err)
		}
		broken := false
		for seed := uint64(0); seed < 40 && !broken; seed++ {
			result, err := sim.Run(sim.Options{Algorithm: a, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			broken = len(result.Violations) > 0
			if broken && !strings.Contains(result.Repro, "--without "+name) {
				t.Errorf("another run than this one: %s", result.Repro)
			}
		}
		if !broken {
			t.Errorf("no run without %s broke anything", name)
		}
	}
}

// Without the pauses between its elections a node calls one at each false alarm.
func TestUndamped(t *testing.T) {
	ring, err := player().Lookup(sim.Shape{Algorithm: "ring"})
	if err != nil {
		t.Fatal(err)
	}
	var rounds [2]int
	for i, a := range []sim.Algorithm{ring, Undamped(ring)} {
		w, err := sim.Waste(sim.Options{Algorithm: a, Nodes: 5, Seed: 1}, 50, 10*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		rounds[i] = w.Rounds
	}
	if rounds[1] < 2*rounds[0] {
		t.Errorf("%d rounds damped, %d not", rounds[0], rounds[1])
	}
}

func TestUnknownRules(t *testing.T) {
	_, err := Lookup("help")
	if !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	for _, r := range All() {
		if !strings.Contains(err.Error(), r.Name) {
			t.Errorf("%v does not list %s", err, r.Name)
		}
	}
	r, _ := Lookup("majority")
	script, err := scenario.Parse("x", "new algorithm=ring nodes=3")
	if err != nil {
		t.Fatal(err)
	}
	p := r.Player(player())
	p.Out = io.Discard
	if err := p.Do(script.Steps[0].Commands[0]); !errors.Is(err, ErrNotOf) {
		t.Errorf("the ring without voters has a majority: %v", err)
	}
}
