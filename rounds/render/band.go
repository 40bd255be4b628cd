package render

import (
	"fmt"
	"slices"
)

// band is a run of steps that is drawn as one: the steps from index first up to, but not
// including, index last. Often a band is a single step.
type band struct{ first, last int }

const (
	// manySteps is the largest number of steps that are drawn one by one.
	manySteps = 48
	// maxKinds is the largest number of kinds of steps that may share a band.
	maxKinds = 8
)

// bands divides the steps of a round into bands. If bands of one kind of step are too many, as when
// all nodes of a mesh talk at once, a band may have steps of several kinds.
func bands(s *layout) []band {
	n := len(s.round.Steps)
	if n <= manySteps {
		return s.fold(0)
	}
	var list []band
	for kinds := 1; kinds <= maxKinds; kinds++ {
		if list = s.fold(kinds); len(list) <= manySteps {
			break
		}
	}
	return list
}

// fold divides the steps into bands. A band has steps of at most as many different kinds as the
// parameter kinds says; if it is 0, each step is a band. No band crosses the beginning of a phase,
// and the winner's step is a band of its own.
func (s *layout) fold(kinds int) []band {
	var list []band
	won := winning(s.round)
	seen := map[string]bool{}
	for i := range s.round.Steps {
		kind := s.kind(i)
		seen[kind] = true
		alone := i == won || i-1 == won && won >= 0 || len(s.phaseAt(i)) > 0
		if i == 0 || alone || len(seen) > kinds {
			list = append(list, band{i, i + 1})
			seen = map[string]bool{kind: true}
			continue
		}
		list[len(list)-1].last = i + 1
	}
	return list
}

// kind returns a key of the i-th step: two steps have the same key if they differ only in nodes and
// numbers.
func (s *layout) kind(i int) string {
	st := &s.round.Steps[i]
	got := ""
	if st.Received >= 0 {
		got = s.round.Messages[st.Received].Kind
	}
	var why, sent []string
	for _, text := range st.Why {
		why = append(why, withoutNumbers(text))
	}
	for _, m := range st.Sent {
		sent = append(sent, s.round.Messages[m].Kind)
	}
	slices.Sort(sent)
	return fmt.Sprintf("%q %d %q %q %q %q %q", st.Event, after(st, 0).stand, st.Change,
		withoutNumbers(st.Evidence), got, why, slices.Compact(sent))
}

// single reports whether the band is one step.
func (b band) single() bool { return b.last == b.first+1 }
