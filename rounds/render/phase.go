package render

import (
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// phase is a part of a round: the steps from index first up to, but not including, index last.
type phase struct {
	name        string
	first, last int
	took        time.Duration
	known       bool
}

// phases divides a round into the parts that its Split measures, and the steps after them. The phase
// "detect" has no steps, because detection ends before the first step.
func phases(r *rounds.Round) []phase {
	won, p := winning(r), r.Split
	elected := r.Aftermath
	if won >= 0 && won < r.Aftermath {
		elected = won + 1
	}
	var list []phase
	if p.DetectKnown {
		list = append(list, phase{name: "detect", took: p.Detect, known: true})
	}
	for _, ph := range []phase{
		{"elect", 0, elected, p.Elect, p.ElectKnown},
		{"announce", elected, r.Aftermath, p.Announce, p.AnnounceKnown},
		{"after", r.Aftermath, len(r.Steps), 0, false},
	} {
		if ph.first < ph.last {
			list = append(list, ph)
		}
	}
	return list
}

// title returns the phase's name and the time that it took: "elect 1.16ms".
func (p phase) title() string {
	if !p.known {
		return p.name
	}
	return p.name + " " + span(p.took)
}

// phaseAt returns the phases that begin with the step.
func (s *layout) phaseAt(step int) (found []phase) {
	for _, p := range s.phases {
		if p.first == step {
			found = append(found, p)
		}
	}
	return found
}
