package daemon

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// causeStore is the cause for which a node does not lead while it sees processes of its cluster that elect elsewhere.
const causeStore = "store"

// gossipedStore returns what the other nodes are told of the store on which this node elects.
func (s Settings) gossipedStore() membership.Store {
	if s.Store == nil {
		return membership.Store{}
	}
	place := fnv.New32a()
	_, _ = place.Write([]byte(s.Store.Name()))
	return membership.Store{Place: place.Sum32(), TTL: uint32(s.Promise.Milliseconds())}
}

// compareStores notes which processes of its cluster elect elsewhere than this node, and keeps this node from leading
// if it must give way to them.
func (d *Daemon) compareStores(listed []membership.Member, now time.Time) {
	self := membership.Member{Voters: d.VotersNow(d.Node), Store: d.gossipedStore()}
	self.ID = d.ID
	var order []membership.Store
	at := map[membership.Store][]string{}
	all := slices.Concat(listed, d.others.lately(now))
	for _, m := range all {
		if at[m.Store] == nil && m.Store != self.Store {
			order = append(order, m.Store)
		}
		at[m.Store] = append(at[m.Store], "node "+m.ID.String())
	}
	var differ []string
	for _, is := range order {
		settings, how := d.otherStore(is)
		differ = append(differ, fmt.Sprintf("%s from that of %s: %s", settings, strings.Join(at[is], ", "), how))
	}
	mend := strings.Join(differ, "; ") + "; start the one that is wrong again, with what the others have"
	if was := d.differ.Swap(&differ); len(differ) > 0 && (was == nil || !slices.Equal(*was, differ)) {
		d.log.Warn().Msg(mend)
	}
	if !givesWay(self, all) {
		d.Node.SetEligible(causeStore, true, "")
		return
	}
	d.Node.SetEligible(causeStore, false, mend)
}

// otherStore says in which settings the store of another process differs from this node's, and how.
func (d *Daemon) otherStore(is membership.Store) (settings, how string) {
	own, none := d.gossipedStore(), membership.Store{}
	ttl := func(s membership.Store) time.Duration { return time.Duration(s.TTL) * time.Millisecond }
	ttls := fmt.Sprintf("a TTL of %v there, of %v here", ttl(is), ttl(own))
	switch {
	case own == none:
		return "the setting store differs", "a store there, none here"
	case is == none:
		return "the setting store differs", "none there, " + d.Store.Name() + " here"
	case is.TTL == own.TTL:
		return "the setting store differs", "it is not " + d.Store.Name() + " there"
	case is.Place == own.Place:
		return "the setting lease differs", ttls
	}
	return "the settings store and lease differ", "it is not " + d.Store.Name() + " there, and " + ttls
}

// givesWay reports whether a process must not lead, since others of its cluster elect elsewhere. On a store it gives
// way to one with voters, and without either to one on a store. Of two places in stores that leads in which more
// processes elect or, of as many, the one with the lowest id.
func givesWay(self membership.Member, others []membership.Member) bool {
	none := membership.Store{}
	sides := map[membership.Store]side{}
	sides[self.Store] = side{1, self.ID}
	for _, m := range others {
		switch {
		case m.Store == none && self.Store != none:
			if m.Voters.List != "" {
				return true
			}
		case m.Store != none && self.Store == none:
			if self.Voters.List == "" {
				return true
			}
		default:
			s, found := sides[m.Store]
			if !found || m.ID < s.lowest {
				s.lowest = m.ID
			}
			sides[m.Store] = side{s.count + 1, s.lowest}
		}
	}
	own := sides[self.Store]
	for _, s := range sides {
		if s.count > own.count || s.count == own.count && s.lowest < own.lowest {
			return true
		}
	}
	return false
}

// side are the processes that elect in one place.
type side struct {
	count  int
	lowest proto.NodeID
}
