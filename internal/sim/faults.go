package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What can be done to a cluster: by the schedule of a run, by a scenario. Each
// is noted in the trace.

// restart starts a node that is down.
func (c *cluster) restart(n *node) {
	if n.life == nil {
		c.trace.note(c.now, "start %d", n.id)
		c.start(n)
	}
}

// kill crashes a node between two Steps.
func (c *cluster) kill(n *node) {
	if n.life != nil {
		c.trace.note(c.now, "crash %d", n.id)
		c.crash(n)
	}
}

// loseDisk crashes a node and deletes what it saved.
func (c *cluster) loseDisk(n *node) {
	c.kill(n)
	c.trace.note(c.now, "%d loses its disk", n.id)
	n.disk, n.lost, n.first = algorithms.State{}, true, 0
	c.facts.loseDisk(c, n)
}

// firstMargin is the number of terms by which an operator's first term is above all present terms,
// since elections go on meanwhile.
const firstMargin = 100

// vouch lets an operator restart voters with a first term if they could not vote otherwise: their
// votes are lost, and too few of the other voters that come back still have theirs.
func (c *cluster) vouch(dead []proto.NodeID) {
	tell := 0
	var mute []*node
	for _, id := range c.Voters {
		switch n := c.node(id); {
		case slices.Contains(dead, id):
		case n.saved():
			tell++
		default:
			mute = append(mute, n)
		}
	}
	if tell >= len(c.Voters)-len(c.Voters)/2 || c.highest == 0 && tell+len(mute) == len(c.Voters) {
		return
	}
	for _, n := range mute {
		c.kill(n)
		c.trace.note(c.now, "an operator gives %d a first term", n.id)
		n.first = 1
		c.restart(n)
	}
}

// killWithin makes a node crash during a later Step.
func (c *cluster) killWithin(n *node, d doom) {
	if n.life != nil {
		c.trace.note(c.now, "crash %d %v", n.id, d)
		n.life.doom = &d
	}
}

func (d doom) String() string {
	act := "acts"
	if d.word != "" {
		act = "sends " + d.word
	}
	if d.after == math.MaxInt {
		return "when it has next " + strings.Replace(act, "sends", "sent", 1)
	}
	return fmt.Sprintf("when it next %s, after effect %d", act, d.after)
}

// pauseWithin makes a node pause after a later Step.
func (c *cluster) pauseWithin(n *node, s stun) {
	if n.life != nil {
		c.trace.note(c.now, "pause %d %v", n.id, s)
		n.life.stun = &s
	}
}

func (s stun) String() string { return fmt.Sprintf("when it next sends %s, for %v", s.word, s.span) }

// pause stops a process for a while, as SIGSTOP does: events that reach it wait.
func (c *cluster) pause(n *node, span time.Duration) {
	if n.life == nil {
		return
	}
	c.trace.note(c.now, "pause %d for %v", n.id, span)
	l := n.life
	c.longestPause = max(c.longestPause, span)
	l.asleep = max(l.asleep, c.now+span)
	c.facts.pause(c, n)
	c.news(n.id)
	c.queue.plan(l.asleep, func() {
		if n.life == l {
			c.news(n.id)
		}
	})
}

// cut blocks links. The trace names these links by the text what.
func (c *cluster) cut(links []link, what string) {
	c.trace.note(c.now, "cut %s", what)
	c.network.cut(links)
	c.newTopology()
}

// uncut opens links that were cut.
func (c *cluster) uncut(links []link, what string) {
	c.trace.note(c.now, "mend %s", what)
	c.network.uncut(links)
	c.newTopology()
}

func (c *cluster) newTopology() {
	c.facts.network(c)
	c.detector.regions = nil
	if c.detector.sight != seesCrashes {
		c.news(0)
	}
}

// lieTo makes the observer's detector wrong about the target.
func (c *cluster) lieTo(observer, target *node, l lie) {
	c.trace.note(c.now, "%d %s %d", observer.id, l, target.id)
	c.detector.lies[link{observer.id, target.id}] = l
	c.facts.deceive(c)
	c.lookNow(observer, target)
}

// truth makes the observer's detector right about the target.
func (c *cluster) truth(observer, target *node) {
	c.trace.note(c.now, "%d is right about %d", observer.id, target.id)
	delete(c.detector.lies, link{observer.id, target.id})
	c.facts.deceive(c)
	c.lookNow(observer, target)
}

func (l lie) String() string {
	if l == suspects {
		return "suspects"
	}
	return "notices nothing about"
}

func (c *cluster) lookNow(n, target *node) {
	if n.life != nil {
		c.attend(n, n.life, func() { c.look(n, target.id) })
	}
}

// lose makes the network lose messages that are sent later.
func (c *cluster) lose(d doomed) {
	c.trace.note(c.now, "lose %v", d)
	c.network.doomed = append(c.network.doomed, d)
}

// holdBack makes the network delay messages that are sent later.
func (c *cluster) holdBack(h held) {
	c.trace.note(c.now, "hold back %v", h)
	c.network.held = append(c.network.held, h)
}

func (h held) String() string {
	if h.again {
		return fmt.Sprintf("a copy of %v by %v", h.doomed, h.by)
	}
	return fmt.Sprintf("%v by %v", h.doomed, h.by)
}

func (d doomed) String() string {
	s := fmt.Sprintf("the next %d", d.left)
	if d.word != "" {
		s += " " + d.word
	}
	if d.from != 0 {
		s += fmt.Sprintf(" from %d", d.from)
	}
	if d.to != 0 {
		s += fmt.Sprintf(" to %d", d.to)
	}
	return s
}

// rerank changes the present attribute of a node.
func (c *cluster) rerank(n *node, attr int64) {
	c.trace.note(c.now, "attribute of %d becomes %d", n.id, attr)
	n.attr = attr
	c.reranked = true
	c.news(n.id)
	if n.life != nil {
		c.lookNow(n, n)
	}
}

// operate gives a node an operator's request.
func (c *cluster) operate(n *node, ev algorithms.Event) {
	if n.life != nil {
		c.attend(n, n.life, func() { c.step(n, ev, c.root) })
	}
}

// The links that a cut blocks.

func oneWay(from, to proto.NodeID) []link { return []link{{from, to}} }

func bothWays(a, b proto.NodeID) []link { return []link{{a, b}, {b, a}} }

// deaf returns the links into one node.
func (c *cluster) deaf(id proto.NodeID) (links []link) {
	for _, l := range c.mute(id) {
		links = append(links, link{l.to, l.from})
	}
	return links
}

// mute returns the links out of one node.
func (c *cluster) mute(id proto.NodeID) (links []link) {
	for _, n := range c.nodes {
		if n.id != id {
			links = append(links, link{id, n.id})
		}
	}
	return links
}

// split returns the links between nodes of different groups.
func (c *cluster) split(group func(proto.NodeID) int) []link {
	var links []link
	for _, a := range c.nodes {
		for _, b := range c.nodes {
			if group(a.id) != group(b.id) {
				links = append(links, link{a.id, b.id})
			}
		}
	}
	return links
}
