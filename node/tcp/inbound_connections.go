package tcp

import (
	"sync"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxInbound is how many established links from peers a node has at most.
const maxInbound = 1024

// caller is one process that dialled.
type caller struct {
	id          proto.NodeID
	incarnation proto.Incarnation
	silent      bool
}

// inboundConnections are the established links that peers dialled. Each process has one link, and one silent
// connection beside that link: a process that dials again has given up its last link. Any goroutine may call
// its methods.
type inboundConnections struct {
	mu    sync.Mutex
	links map[caller]*inbound
}

// enter registers in. It resets an older link of the same process; when enter returns, the older link has
// passed its last message to the callback. It returns false if there are too many links.
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

// leave removes in. Its caller passes no more messages of this link to the callback. leave returns false if a
// newer link has replaced this link.
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

// count returns the number of established links that a process dialled, without silent ones.
func (c *inboundConnections) count(id proto.NodeID, s proto.Incarnation) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.links[caller{id: id, incarnation: s}] != nil {
		return 1
	}
	return 0
}
