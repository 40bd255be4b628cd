package pacing

import (
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/membership"
)

// Profile says for which network a node is tuned.
type Profile struct {
	Name     string
	Detector membership.Profile
	Budget   time.Duration // for a failover, unless the operator gives one
}

// Profiles is every profile. More than half of its budget is how long a node may
// be silent: at lan several garbage collections of 100 ms on a machine whose
// cores are all busy; at local two of them; at fast one at most, so that a node
// there needs a processor when it wants it, or is replaced for nothing.
var Profiles = []Profile{
	{"lan", membership.LAN, time.Second},
	{"local", membership.Local, 500 * time.Millisecond},
	{"fast", membership.Fast, 250 * time.Millisecond},
}

// BudgetFor is the profile's budget, larger for an algorithm whose rounds take longer.
func (p Profile) BudgetFor(entry catalog.Entry) time.Duration {
	return p.Budget * stretch(entry) / 100
}

// ProfileNamed is the profile of that name.
func ProfileNamed(name string) (Profile, error) {
	for _, p := range Profiles {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("%q: want one of %s", name, strings.Join(ProfileNames(), ", "))
}

// ProfileNames are the names of all profiles.
func ProfileNames() []string {
	names := make([]string, 0, len(Profiles))
	for _, p := range Profiles {
		names = append(names, p.Name)
	}
	return names
}
