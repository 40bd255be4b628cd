package tcp

import (
	"maps"
	"slices"
	"sync"

	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// maxUnknown is how many connections all callers together have whose ids this node does not know.
	maxUnknown = 256
	// maxPerNode is how many links the processes of one node have, and how many silent connections.
	maxPerNode = 8
)

// caller is one process that dialled.
type caller struct {
	id          proto.NodeID
	incarnation proto.Incarnation
	silent      bool
}

// inboundConnections are the established links that peers dialled. Any goroutine may call its methods.
//
//  1. Each process has one link, and one silent connection beside that link: a process that dials again
//     has given up its last link.
//  2. The processes of one node have at most maxPerNode of each. The one that is expected keeps its own.
//  3. A node that is known always finds a place. All others have maxUnknown together: the one from which
//     nothing was read for the longest time makes room.
type inboundConnections struct {
	// expects returns whether a node is known, and its process that is expected; the zero Incarnation if any is.
	// nil stands for a node that knows nobody.
	expects func(id proto.NodeID) (known bool, process proto.Incarnation)

	mu    sync.Mutex
	links map[caller]*inbound
}

// enter registers in. It resets an older link of the same process; when enter returns, the older link has
// passed its last message to the callback. It also resets a link that makes room, and returns that one.
func (c *inboundConnections) enter(in *inbound) (displaced *inbound) {
	key := in.caller()
	c.mu.Lock()
	older := c.links[key]
	if older == nil {
		if displaced = c.makeRoom(key); displaced != nil {
			delete(c.links, displaced.caller())
		}
	}
	if c.links == nil {
		c.links = map[caller]*inbound{}
	}
	c.links[key] = in
	c.mu.Unlock()
	if displaced != nil {
		reset(displaced.conn)
	}
	if older != nil {
		reset(older.conn)
		<-older.done
	}
	return displaced
}

// makeRoom returns the link that has to end so that a link of key has a place; nil if there is a place. The caller
// holds mu.
func (c *inboundConnections) makeRoom(key caller) *inbound {
	known, _ := c.expect(key.id)
	var same, unknown crowd
	for other, in := range c.links {
		isKnown, process := c.expect(other.id)
		if other.id == key.id && other.silent == key.silent {
			same.add(in, isKnown && other.incarnation == process)
		}
		if !known && !isKnown {
			unknown.add(in, false)
		}
	}
	switch {
	case same.count >= maxPerNode:
		return same.idlest
	case unknown.count >= maxUnknown:
		return unknown.idlest
	}
	return nil
}

func (c *inboundConnections) expect(id proto.NodeID) (known bool, process proto.Incarnation) {
	if c.expects == nil {
		return false, process
	}
	return c.expects(id)
}

// crowd is a number of links that share a bound.
type crowd struct {
	count  int
	idlest *inbound // the one that makes room: nothing was read from it for the longest time
}

// add counts in. If keep is set, in makes no room for others.
func (c *crowd) add(in *inbound, keep bool) {
	c.count++
	if !keep && (c.idlest == nil || in.heard.Load() < c.idlest.heard.Load()) {
		c.idlest = in
	}
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

// all returns the established links, silent ones too.
func (c *inboundConnections) all() []*inbound {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.links))
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
