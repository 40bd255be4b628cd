package daemon

import (
	"testing"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// Of processes that elect in different places, those of one place may lead, whoever of them asks.
func TestOnePlaceLeads(t *testing.T) {
	voters := membership.Voters{List: "1-3"}
	a, b := membership.Store{Place: 1, TTL: 5}, membership.Store{Place: 2, TTL: 5}
	slow := membership.Store{Place: 1, TTL: 9}
	none := membership.Store{}
	for name, c := range map[string]struct {
		stores []membership.Store // of node 1, 2, …
		voters membership.Voters  // of those without a store
		leads  membership.Store
	}{
		"all agree":       {[]membership.Store{a, a, a}, voters, a},
		"most lead":       {[]membership.Store{b, a, a}, voters, a},
		"another TTL":     {[]membership.Store{slow, a, a}, voters, a},
		"as many":         {[]membership.Store{b, a, a, b}, voters, b},
		"three":           {[]membership.Store{b, a, slow}, voters, b},
		"voters before":   {[]membership.Store{a, a, none}, voters, none},
		"a store before":  {[]membership.Store{none, none, a}, membership.Voters{}, a},
		"without a store": {[]membership.Store{none, none}, voters, none},
	} {
		var all []membership.Member
		for i, is := range c.stores {
			m := membership.Member{Peer: proto.Peer{ID: proto.NodeID(i + 1)}, Store: is}
			if is == none {
				m.Voters = c.voters
			}
			all = append(all, m)
		}
		for i, self := range all {
			others := append(append([]membership.Member(nil), all[:i]...), all[i+1:]...)
			if got := givesWay(self, others); got != (self.Store != c.leads) {
				t.Errorf("%s: node %v gives way: %v", name, self.ID, got)
			}
		}
	}
}
