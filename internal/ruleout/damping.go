package ruleout

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/mutant"
	"github.com/ringleader-dev/ringleader/internal/sim"
)

// Undamped returns the algorithm without the pauses between the elections that a node calls: "If so, start a new
// run" (lecture notes), at once.
func Undamped(a sim.Algorithm) sim.Algorithm {
	real := a.New
	a.New = func(c algorithms.Config) algorithms.Machine {
		m := &mutant.Machine{Machine: real(c), Self: c.Self}
		m.Undo = func(now time.Time, _ algorithms.Event, out *algorithms.Output) {
			if mutant.Gives(*out, "nomination.damped") {
				m.Also(now, algorithms.Campaign{Reason: "it is not damped"}, out)
			}
		}
		return m
	}
	return a
}
