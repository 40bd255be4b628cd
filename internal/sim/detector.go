package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// sight is how much a failure detector sees of cuts in the network. Crashes it
// always sees, in its time.
type sight string

// The sights.
const (
	// seesCrashes: a process behind a cut counts as alive.
	seesCrashes sight = "crashes"
	// seesPaths: a process counts as alive while news travels there and back
	// along any path, as gossip does.
	seesPaths sight = "paths"
	// seesLinks: a process counts as alive while the direct link works in both
	// directions, as heartbeats do.
	seesLinks sight = "links"
)

// lie is a wrong opinion that one node holds of another.
type lie int

const (
	suspects lie = iota + 1 // believes it dead
	misses                  // notices nothing new about it
)

// detector forms every node's opinion of every other.
type detector struct {
	// off: views change only when a fault or an operator says so.
	off                bool
	minDelay, maxDelay time.Duration // from a change to its notice
	sight              sight
	lies               map[link]lie // from the observer to the observed

	// regions label the nodes that news travels between; nil when anything
	// changed since they were found.
	regions []int
}

// news plans that every living node takes a look at the target, each after a
// delay of its own. Target zero means at everybody.
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

// crowd is from how many nodes on a detector takes in all changes of a while at
// one look: a look at each of so many by itself would cost their number cubed.
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

// look brings the node's view of the target, zero for all, up to date, and
// tells the node when that changes anything.
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
		c.tell(n, view, evidence(gone, seen), c.root)
	}
}

// seesAlive is the truth about another node, as far as n's detector can see.
// A process that is paused answers nobody.
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

// sees reports whether the cuts leave one living node in another's sight.
func (c *cluster) sees(from, to proto.NodeID) bool {
	if len(c.network.cuts) == 0 {
		return true
	}
	switch c.detector.sight {
	case seesLinks:
		return c.network.open(from, to) && c.network.open(to, from)
	case seesPaths:
		regions := c.regions()
		return regions[from-1] == regions[to-1]
	}
	return true
}

// regions labels the living nodes so that two have the same label exactly when
// paths lead from each to the other.
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

// reach marks the nodes that news from node index start comes to, passed on by
// the living, over links that pass says are open.
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

// findPeer returns where id stands, or belongs, in a view.
func findPeer(view []proto.Peer, id proto.NodeID) (int, bool) {
	return slices.BinarySearchFunc(view, id, func(p proto.Peer, id proto.NodeID) int {
		return int(p.ID) - int(id)
	})
}

// evidence is what changed an opinion, in words.
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
