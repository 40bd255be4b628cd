package main

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/membership"
)

// profile says for which network a node is tuned.
type profile struct {
	name     string
	detector membership.Profile
	budget   time.Duration // for a failover, unless the operator gives one
}

// profiles is every profile. More than half of its budget is how long a node may
// be silent: at lan several garbage collections of 100 ms on a machine whose
// cores are all busy; at local two of them; at fast one at most, so that a node
// there needs a processor when it wants it, or is replaced for nothing.
var profiles = []profile{
	{"lan", membership.LAN, time.Second},
	{"local", membership.Local, 500 * time.Millisecond},
	{"fast", membership.Fast, 250 * time.Millisecond},
}

// budgetFor is the profile's budget, larger for an algorithm whose rounds take longer.
func (p profile) budgetFor(entry catalog.Entry) time.Duration {
	return p.budget * stretch(entry) / 100
}

func profileNames() []string {
	names := make([]string, 0, len(profiles))
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}
