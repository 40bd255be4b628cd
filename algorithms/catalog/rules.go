package catalog

import (
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// shared are the rules that all nominating algorithms share, and those of the office.
var shared = []algorithms.Rule{
	{Why: "asked to lead", Sentence: "L1 sends TimeoutNow to L2 (start election immediately)"},
	{Why: "# hands over", Sentence: "L1 sends TimeoutNow to L2 (start election immediately)"},
	// Those of the office, as our own documentation has them.
	{Why: "a majority granted term #", Sentence: onceAMajority},
	{Why: "a majority would grant term #", Sentence: "It asks first, and claims only when a majority would grant."},
	{Why: "# asks for term # -> no, voted #", Sentence: votesOnce},
	{Why: "# wants term # -> deny it: no, voted #", Sentence: votesOnce},
	{Why: "# asks for term # -> no, promised #", Sentence: whenOver},
	{Why: "# wants term # -> deny it: no, promised #", Sentence: whenOver},
	{Why: "# asks for term # -> no, just started", Sentence: afterAStart},
	{Why: "# wants term # -> deny it: no, just started", Sentence: afterAStart},
	// Those of the mending of split brains.
	{Why: "all who led have stopped -> reconcile", Sentence: "3. Reconcile conflicts"},
	{Why: "a split is mended", Sentence: "4. Re-elect single leader"},
}

// The rules of the office that several reasons follow.
const (
	onceAMajority = "The office makes a nominee a leader: a majority of voters, each at most once a term, durably, " +
		"and for as long as its promise."
	votesOnce = "It votes once a term, durably before it answers, for one process: an id and a session."
	whenOver  = "A higher term it grants when its promise is over: run out, released by the very process it " +
		"voted for, or that process is proven dead."
	afterAStart = "After a start it grants no new term for as long as any promise of its former life may run."
)

// Sentence is the sentence of the algorithm's source behind a reason in a
// record, be it the whole "cause -> decision" or its cause; "" when none is
// quoted. An unknown algorithm has only what all share.
func Sentence(algorithm, why string) string {
	whole := numbersAway(why)
	cause, _, _ := strings.Cut(whole, " -> ")
	entry, _ := Lookup(algorithm)
	for _, rules := range [][]algorithms.Rule{entry.Rules, shared} {
		for _, r := range rules {
			if r.Why == whole || r.Why == cause {
				return r.Sentence
			}
		}
	}
	return ""
}

// numbersAway puts # for each number in s.
func numbersAway(s string) string {
	var b strings.Builder
	in := false
	for _, c := range []byte(s) {
		digit := c >= '0' && c <= '9'
		switch {
		case !digit:
			b.WriteByte(c)
		case !in:
			b.WriteByte('#')
		}
		in = digit
	}
	return b.String()
}
