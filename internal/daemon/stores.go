package daemon

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
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

// storePatience is how long a node that starts waits for the first answer of its store.
const storePatience = 2 * time.Second

// openStore opens the store, and refuses one that cannot be used as configured. A store that does not
// answer may answer later: then the node starts without it.
func (d *Daemon) openStore(asked context.Context) (err error) {
	if d.Store == nil {
		return nil
	}
	if s, is := d.Store.(store.Secretive); is {
		if _, err := storeurl.Password(s.Secret()); err != nil {
			return FieldError{"Store", wrong(err)}
		}
		if exposed := storeurl.Exposed(s.Secret()); exposed != "" {
			d.log.Warn().Msg(exposed)
		}
	}
	d.store, err = d.Store.Open(store.Candidate{
		Cluster: d.Cluster, Peer: proto.Peer{ID: d.ID, Incarnation: d.Incarnation}, TTL: d.Promise,
	})
	if err != nil {
		return FieldError{"Store", wrong(err)}
	}
	ctx, cancel := context.WithTimeout(asked, storePatience)
	defer cancel()
	began := time.Now()
	switch err := d.store.Check(ctx); {
	case errors.Is(err, store.ErrWrong):
		return FieldError{"Store", wrong(err)}
	case asked.Err() != nil:
		return context.Cause(asked)
	case err != nil:
		d.log.Warn().Err(err).Stringer("store", d.Store).
			Msg("the store does not answer yet: nobody leads before it does")
		return nil
	}
	return d.checkPace(ctx, time.Since(began))
}

// tripsInTTL is how many round trips to the store must fit into a TTL at least.
const tripsInTTL = 3

// checkPace refuses a TTL below three round trips to the store. The first check may have opened a
// connection, so a slow one is made again.
func (d *Daemon) checkPace(ctx context.Context, trip time.Duration) error {
	if tripsInTTL*trip <= d.Promise {
		return nil
	}
	began := time.Now()
	if err := d.store.Check(ctx); err != nil {
		return nil // the node says so as long as it is so
	}
	if trip = time.Since(began); tripsInTTL*trip > d.Promise {
		return FieldError{"Lease", wrong(fmt.Errorf("a TTL of %v is below three round trips of %v to %s: raise it",
			d.Promise, trip.Round(time.Millisecond), d.Store))}
	}
	return nil
}
