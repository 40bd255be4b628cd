package ruleout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	bully "github.com/ringleader-dev/ringleader/algorithms/bully/without"
	ring "github.com/ringleader-dev/ringleader/algorithms/ring/without"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/mutant"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

// Rule is a rule of the lecture notes that can be left out.
type Rule struct {
	mutant.Rule
	has  func(sim.Algorithm) bool
	says func(sim.Tale) string // what happened
}

// ErrUnknown says that no rule has this name, and ErrNotOf that an algorithm has no such rule.
var (
	ErrUnknown = errors.New("unknown rule")
	ErrNotOf   = errors.New("the algorithm has no such rule")
)

// rules are all of them, in the order in which they are listed.
var rules = slices.Concat(
	[]Rule{{
		mutant.Rule{
			Name: "fencing",
			Sentence: "if fencing_token < self.current_token: raise StaleLeaderError(\n" +
				`f"Token {fencing_token} < current {self.current_token}")`,
			Of:       "the store to which leaders write",
			Prevents: "a leader that slept through the end of its lease overwrites what the next one wrote",
			Story:    fencingStory,
		},
		func(sim.Algorithm) bool { return true }, saysWrites,
	}, {
		mutant.Rule{
			Name:     "lease-first",
			Sentence: "Old leader's lease must expire before new election",
			Of:       "every algorithm with voters",
			Prevents: "the others elect while a leader whom they do not hear leads on under its lease",
			Takes:    impatient, Story: leaseStory,
		},
		votes, saysLeaders,
	}, {
		mutant.Rule{
			Name:     "majority",
			Sentence: "Majority quorum (can't have two majorities): Election requires N/2 + 1 votes",
			Of:       "every algorithm with voters",
			Prevents: "each side of a partition elects a leader of its own",
			Takes:    counted, Story: majorityStory,
		},
		votes, saysLeaders,
	}},
	ownRules(bully.Rules()), ownRules(ring.Rules()),
)

// ownRules are rules of one algorithm.
func ownRules(all []mutant.Rule) (rules []Rule) {
	for _, r := range all {
		rules = append(rules, Rule{r, func(a sim.Algorithm) bool { return a.Name == r.Of }, saysMessages})
	}
	return rules
}

func votes(a sim.Algorithm) bool { return a.Leased && !a.Store }

// All returns the rules, in the order in which they are listed.
func All() []Rule { return slices.Clone(rules) }

// Lookup returns the rule of this name. Its error wraps ErrUnknown and lists all rules.
func Lookup(name string) (Rule, error) {
	for _, r := range rules {
		if r.Name == name {
			return r, nil
		}
	}
	var list strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&list, "\n  %-16s of %s; without it, %s", r.Name, r.Of, r.Prevents)
	}
	return Rule{}, fmt.Errorf("%w %q: there are%s", ErrUnknown, name, list.String())
}

// From returns the algorithm without the rule. Its error wraps ErrNotOf.
func (r Rule) From(a sim.Algorithm) (sim.Algorithm, error) {
	if !r.has(a) {
		return a, fmt.Errorf("%w: %s is of %s, and not of %s", ErrNotOf, r.Name, r.Of, a.Name)
	}
	if r.Takes != nil {
		real := a.New
		a.Without = r.Name
		a.New = func(c algorithms.Config) algorithms.Machine { return r.Takes(c, real(c)) }
	}
	return a, nil
}

// OfStore reports whether a store has the rule, and no algorithm.
func (r Rule) OfStore() bool { return r.Takes == nil }

// Player returns p as it plays without the rule.
func (r Rule) Player(p sim.Player) sim.Player {
	lookup := p.Lookup
	p.Lookup = func(s sim.Shape) (sim.Algorithm, error) {
		a, err := lookup(s)
		if err != nil {
			return a, err
		}
		return r.From(a)
	}
	if r.OfStore() {
		p.Admit = func(_, t fence.Token) error { return t.Validate() }
	}
	return p
}
