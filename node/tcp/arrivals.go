package tcp

import (
	"sync"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxArrivals bounds the established links that others dialled.
const maxArrivals = 1024

// caller is one process that dialled.
type caller struct {
	id      proto.NodeID
	session proto.Session
	silent  bool
}

// arrivals are the established links that others dialled, one a process and one
// silent: a process dials again only when it has given its last connection up.
type arrivals struct {
	mu    sync.Mutex
	links map[caller]*inbound
}

// enter registers in, instead of an older link of the same process: that one
// is reset, and has handed up its last message when enter returns. It reports
// false when there are too many links.
func (a *arrivals) enter(in *inbound) bool {
	key := in.caller()
	a.mu.Lock()
	older := a.links[key]
	if older == nil && len(a.links) >= maxArrivals {
		a.mu.Unlock()
		return false
	}
	if a.links == nil {
		a.links = map[caller]*inbound{}
	}
	a.links[key] = in
	a.mu.Unlock()
	if older != nil {
		reset(older.conn)
		<-older.done
	}
	return true
}

// leave takes in out; nothing of it is handed up any more. It reports false
// when a newer link has taken its place.
func (a *arrivals) leave(in *inbound) bool {
	defer close(in.done)
	key := in.caller()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.links[key] != in {
		return false
	}
	delete(a.links, key)
	return true
}

// count counts the established links that a process dialled, silent ones apart.
func (a *arrivals) count(id proto.NodeID, s proto.Session) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.links[caller{id: id, session: s}] != nil {
		return 1
	}
	return 0
}
