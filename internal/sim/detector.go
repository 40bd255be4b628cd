package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// sight says which cuts of the network a failure detector notices. It notices crashes in any case.
type sight string

// The sights.
const (
	// seesCrashes: a process behind a cut counts as alive.
	seesCrashes sight = "crashes"
	// seesPaths: a process counts as alive while news can travel there and back along any path, as
	// gossip does.
	seesPaths sight = "paths"
	// seesLinks: a process counts as alive while the direct link works in both
	// directions, as heartbeats do.
	seesLinks sight = "links"
)

// lie is a wrong opinion of one node about another.
type lie int

const (
	suspects lie = iota + 1 // believes it dead
	misses                  // notices nothing new about it
)

// detector computes every node's opinion of every other.
type detector struct {
	// off says that views change only when a fault or an operator changes them.
	off                bool
	minDelay, maxDelay time.Duration // from a change until it is noticed
	sight              sight
	lies               map[link]lie // by the direction from the observer to the observed node

	// regions labels the nodes so that news travels between nodes with the same label. It is nil if
	// anything changed since it was computed.
	regions []int
}

// news makes every living node look at the target, each after a delay of its own. Target zero means
// all nodes.
func (c *cluster) news(target proto.NodeID) {
	if c.detector.off {
		return
	}
	for _, n := range c.nodes {
		if n.life != nil && n.id != target {
			c.noticeLater(n, target)
		}
	}
}

// crowd is the number of nodes from which on each node notices all changes together, from time to
// time. If it noticed each change by itself, a run would take time that grows with the cube of the
// number of nodes.
const crowd = 50

func (c *cluster) noticeLater(n *node, target proto.NodeID) {
	l := n.life
	if len(c.nodes) >= crowd {
		if l.looks {
			return
		}
		l.looks, target = true, 0
	}
	at := c.now + c.dice.between(c.detector.minDelay, c.detector.maxDelay)
	c.lastNotice = max(c.lastNotice, at)
	c.queue.plan(at, func() {
		c.attend(n, l, func() {
			l.looks = false
			c.look(n, target)
		})
	})
}

// look updates the node's view of the target, or of all nodes if target is zero, and tells the node
// if the view changed.
func (c *cluster) look(n *node, target proto.NodeID) {
	view := slices.Clone(n.life.view)
	var gone, seen []string
	for _, other := range c.nodes {
		lie := c.detector.lies[link{n.id, other.id}]
		if target != 0 && target != other.id || lie == misses {
			continue
		}
		at, known := findPeer(view, other.id)
		peer, alive := other.peer(), lie != suspects && c.seesAlive(n, other)
		switch {
		case alive && !known:
			view = slices.Insert(view, at, peer)
			seen = append(seen, other.id.String())
		case alive && view[at] != peer:
			view[at] = peer
			seen = append(seen, other.id.String())
		case !alive && known:
			view = slices.Delete(view, at, at+1)
			gone = append(gone, other.id.String())
		}
	}
	if len(gone)+len(seen) > 0 {
		c.tell(n, view, evidence(gone, seen), 0)
	}
}

// seesAlive reports whether the node other is alive as far as n's detector can see. A paused
// process counts as dead, since it answers nobody.
func (c *cluster) seesAlive(n, other *node) bool {
	return n == other ||
		other.life != nil && other.life.asleep <= c.now && c.sees(n.id, other.id)
}

// tell gives the node a view.
func (c *cluster) tell(n *node, view []proto.Peer, evidence string, cause depth) {
	n.life.view = view
	alive := slices.Clone(view) // the Machine may keep its own
	c.step(n, algorithms.PeersChanged{Alive: alive, Evidence: evidence}, cause)
}

// sees reports whether a detector on the node from would notice the node to, with the links that
// are cut now.
func (c *cluster) sees(from, to proto.NodeID) bool {
	if len(c.network.cuts) == 0 {
		return true
	}
	switch c.detector.sight {
	case seesLinks:
		return c.network.open(from, to) && c.network.open(to, from)
	case seesPaths:
		regions := c.regions()
		return regions[c.index[from]] == regions[c.index[to]]
	}
	return true
}

// regions labels the nodes. Two nodes have the same label if and only if each can reach the other
// along some path.
func (c *cluster) regions() []int {
	d := &c.detector
	if d.regions != nil {
		return d.regions
	}
	d.regions = make([]int, len(c.nodes))
	for i := range c.nodes {
		if d.regions[i] != 0 {
			continue
		}
		there := c.reach(i, func(a, b proto.NodeID) bool { return c.network.open(a, b) })
		back := c.reach(i, func(a, b proto.NodeID) bool { return c.network.open(b, a) })
		for j := range c.nodes {
			if there[j] && back[j] {
				d.regions[j] = i + 1
			}
		}
	}
	return d.regions
}

// reach marks the nodes that news can reach from the node with index start. Living nodes pass the
// news on, over the links for which pass returns true.
func (c *cluster) reach(start int, pass func(a, b proto.NodeID) bool) []bool {
	reached := make([]bool, len(c.nodes))
	reached[start] = true
	frontier := []*node{c.nodes[start]}
	for len(frontier) > 0 {
		n := frontier[0]
		frontier = frontier[1:]
		if n.life == nil {
			continue
		}
		for j, other := range c.nodes {
			if !reached[j] && pass(n.id, other.id) {
				reached[j] = true
				frontier = append(frontier, other)
			}
		}
	}
	return reached
}

// findPeer returns the index of id in the view; if id is not there, it returns false and the index
// where id belongs.
func findPeer(view []proto.Peer, id proto.NodeID) (int, bool) {
	return slices.BinarySearchFunc(view, id, func(p proto.Peer, id proto.NodeID) int {
		return int(p.ID) - int(id)
	})
}

// evidence describes a change of opinion.
func evidence(gone, seen []string) string {
	var parts []string
	if len(gone) > 0 {
		parts = append(parts, "gone "+strings.Join(gone, " "))
	}
	if len(seen) > 0 {
		parts = append(parts, "seen "+strings.Join(seen, " "))
	}
	return strings.Join(parts, ", ")
}
