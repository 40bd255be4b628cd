package pacing

import (
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/membership"
)

// Profile tunes a node for one kind of network.
type Profile struct {
	Name     string
	Detector membership.Profile
	Budget   time.Duration // the failover budget, unless the operator gives another
}

// Profiles lists all profiles. A node may be silent for more than half of its budget. With lan this
// is enough for several garbage collections of 100 ms on a machine whose cores are all busy; with
// local for two of them; with fast for one at most. So with fast a node needs a free processor at
// all times: otherwise it is replaced although it is healthy.
var Profiles = []Profile{
	{"lan", membership.LAN, time.Second},
	{"local", membership.Local, 500 * time.Millisecond},
	{"fast", membership.Fast, 250 * time.Millisecond},
}

// BudgetFor returns the profile's budget, or a larger one for an algorithm whose rounds take longer.
func (p Profile) BudgetFor(entry catalog.Entry) time.Duration {
	return p.Budget * stretch(entry) / 100
}

// ProfileNamed returns the profile with this name.
func ProfileNamed(name string) (Profile, error) {
	for _, p := range Profiles {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("want one of %s, not %q", strings.Join(ProfileNames(), ", "), name)
}

// ProfileNames returns the names of all profiles.
func ProfileNames() []string {
	names := make([]string, 0, len(Profiles))
	for _, p := range Profiles {
		names = append(names, p.Name)
	}
	return names
}
