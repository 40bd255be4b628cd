package membership

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Dropped counts the packets and streams that a group dropped before anything read them.
type Dropped struct {
	Unencrypted uint64 // where the group's gossip is encrypted
	UnknownKey  uint64 // encrypted with a key that this node has not, or where it has none
	Hostile     uint64 // no node sends such
	Crowded     uint64 // streams that made room for others
}

// Unread is a source whose gossip a group drops, although it may be a node of the cluster.
type Unread struct {
	From string // an IP address
	Why  string // what is wrong with its gossip, and what to do: "is not encrypted, …"
}

// How often the log names a source whose gossip is dropped, and how many sources in that time.
const (
	complainEvery = 30 * time.Second
	maxComplaints = 16
	// unreadFor is how long a source counts as one whose gossip is dropped after it last was. A node tries its seeds
	// more often.
	unreadFor = time.Minute
)

// drops counts what a guard drops. It logs what may be a node of the cluster with other keys. Any goroutine may call
// its methods.
type drops struct {
	log  zerolog.Logger
	said logLimiter

	unencrypted, unknownKey, hostile, crowded atomic.Uint64

	mu     sync.Mutex
	unread map[string]unread // by address; the maxComplaints that were dropped last
}

type unread struct {
	why  error
	todo string
	at   time.Time
}

func (u unread) String() string { return fmt.Sprintf("%v: %s", u.why, u.todo) }

func (d *drops) counted() Dropped {
	return Dropped{d.unencrypted.Load(), d.unknownKey.Load(), d.hostile.Load(), d.crowded.Load()}
}

// note counts what came from an address, and why it is dropped. It logs this for people, once in a while for each
// source, and reports whether it did.
func (d *drops) note(from string, why error) (said bool) {
	todo := ""
	switch {
	case errors.Is(why, errUnsealed):
		d.unencrypted.Add(1)
		todo = "its node runs without credentials, or is of a release that knows none; if it is a node of this " +
			"cluster, start it with credentials of this cluster"
	case errors.Is(why, errUnknownKey):
		d.unknownKey.Add(1)
		todo = "if it is a node of this cluster, give both the same keys: ringleader keys list shows who has which"
	case errors.Is(why, errNoKeyring):
		d.unknownKey.Add(1)
		todo = "start this node with credentials of its cluster"
	case errors.Is(why, errHostile):
		d.hostile.Add(1)
		return false
	default: // the stream ended or broke
		return false
	}
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	u := unread{why, todo, time.Now()}
	d.remember(from, u)
	if said = d.said.first(from, why.Error(), u.at); said {
		d.log.Warn().Str("from", from).Msgf("gossip from %s %v", from, u)
	}
	return said
}

// remember notes a source, in place of the one that was dropped longest ago if there are too many.
func (d *drops) remember(from string, u unread) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unread == nil {
		d.unread = map[string]unread{}
	}
	d.unread[from] = u
	if len(d.unread) <= maxComplaints {
		return
	}
	for other, is := range d.unread {
		if is.at.Before(d.unread[from].at) {
			from = other
		}
	}
	delete(d.unread, from)
}

func (d *drops) lately(now time.Time) (all []Unread) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, from := range slices.Sorted(maps.Keys(d.unread)) {
		if u := d.unread[from]; now.Sub(u.at) < unreadFor {
			all = append(all, Unread{from, u.String()})
		}
	}
	return all
}
