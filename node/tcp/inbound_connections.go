package tcp

import (
	"sync"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxInbound bounds the established links that others dialled.
const maxInbound = 1024

// caller is one process that dialled.
type caller struct {
	id      proto.NodeID
	session proto.Session
	silent  bool
}

// inboundConnections are the established links that others dialled. Each process has one,
// and one silent connection beside it: a process that dials again has given the last one
// up. Any goroutine may call its methods.
type inboundConnections struct {
	mu    sync.Mutex
	links map[caller]*inbound
}

// enter registers in, instead of an older link of the same process: that one
// is reset, and has handed up its last message when enter returns. It reports
// false when there are too many links.
func (c *inboundConnections) enter(in *inbound) bool {
	key := in.caller()
	c.mu.Lock()
	older := c.links[key]
	if older == nil && len(c.links) >= maxInbound {
		c.mu.Unlock()
		return false
	}
	if c.links == nil {
		c.links = map[caller]*inbound{}
	}
	c.links[key] = in
	c.mu.Unlock()
	if older != nil {
		reset(older.conn)
		<-older.done
	}
	return true
}

// leave takes in out; nothing of it is handed up any more. It reports false
// when a newer link has taken its place.
func (c *inboundConnections) leave(in *inbound) bool {
	defer close(in.done)
	key := in.caller()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.links[key] != in {
		return false
	}
	delete(c.links, key)
	return true
}

// count counts the established links that a process dialled, silent ones apart.
func (c *inboundConnections) count(id proto.NodeID, s proto.Session) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.links[caller{id: id, session: s}] != nil {
		return 1
	}
	return 0
}
