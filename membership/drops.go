package membership

import (
	"errors"
	"net"
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

// How often the log names a source whose gossip is dropped, and how many sources in that time.
const (
	complainEvery = 30 * time.Second
	maxComplaints = 16
)

// drops counts what a guard drops. It logs what may be a node of the cluster with other keys. Any goroutine may call
// its methods.
type drops struct {
	log  zerolog.Logger
	said logLimiter

	unencrypted, unknownKey, hostile, crowded atomic.Uint64
}

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
		todo = "give its node the keys of this cluster, if it is one of this cluster"
	case errors.Is(why, errUnknownKey):
		d.unknownKey.Add(1)
		todo = "if it is a node of this cluster, give both the same keys: ringleader keys list shows who has which"
	case errors.Is(why, errNoKeyring):
		d.unknownKey.Add(1)
		todo = "start this node with the keys of its cluster"
	case errors.Is(why, errHostile):
		d.hostile.Add(1)
		return false
	default: // the stream ended or broke
		return false
	}
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	if said = d.said.first(from, why.Error(), time.Now()); said {
		d.log.Warn().Str("from", from).Msgf("gossip from %s %v: %s", from, why, todo)
	}
	return said
}
