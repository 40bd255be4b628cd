package sim

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// census counts which leaders the nodes believe in. Each change takes constant time.
//
// Invariants: 1. believers counts the living nodes by the leadership that they name. Nodes that
// name nobody are not in it, and no count is zero. 2. leaders is the number of living nodes that
// believe that they lead, without those whose lease ended while they were paused.
type census struct {
	living    int
	leaders   int
	believers map[proto.Leadership]int

	changed    time.Duration // when leaders last changed
	leaderless time.Duration // how long nobody led
	contested  time.Duration // how long more than one node led

	agreed time.Duration // since when all have agreed; never if they do not
}

// never is later than any run lasts.
const never = time.Duration(1<<63 - 1)

func newCensus() census {
	return census{believers: map[proto.Leadership]int{}, agreed: never}
}

// join adds a process that starts and believes in nobody.
func (c *census) join(now time.Duration) {
	c.advance(now)
	c.living++
	c.judge(now)
}

// leave removes a node whose process is about to end.
func (c *census) leave(now time.Duration, n *node) {
	c.advance(now)
	c.count(n, n.life.belief, -1)
	c.living--
	c.judge(now)
}

// change replaces the node's belief by next.
func (c *census) change(now time.Duration, n *node, next algorithms.Leader) {
	if n.life.belief.Leadership() == next.Leadership() {
		return
	}
	c.advance(now)
	c.count(n, n.life.belief, -1)
	n.life.lapsed = false
	c.count(n, next, +1)
	c.judge(now)
}

// lapse notes that the node's lease has ended, whether the node is paused or not.
func (c *census) lapse(now time.Duration, n *node) {
	c.advance(now)
	n.life.lapsed = true
	c.leaders--
	c.judge(now)
}

func (c *census) count(n *node, belief algorithms.Leader, by int) {
	if belief.ID == 0 {
		return
	}
	if belief.ID == n.id && !n.life.lapsed {
		c.leaders += by
	}
	e := belief.Leadership()
	if c.believers[e] += by; c.believers[e] == 0 {
		delete(c.believers, e)
	}
}

// advance adds the time since the last change to leaderless or to contested.
func (c *census) advance(now time.Duration) {
	switch {
	case c.leaders == 0:
		c.leaderless += now - c.changed
	case c.leaders > 1:
		c.contested += now - c.changed
	}
	c.changed = now
}

// restart sets the figures to zero.
func (c *census) restart(now time.Duration) {
	c.changed, c.leaderless, c.contested = now, 0, 0
}

// judge notes since when all living nodes have named the same living leader, which itself believes
// that it leads.
func (c *census) judge(now time.Duration) {
	_, ok := c.leadership()
	switch {
	case !ok:
		c.agreed = never
	case c.agreed == never:
		c.agreed = now
	}
}

// leadership returns the leadership that all living nodes agree on. ok is false if they do not
// agree.
func (c *census) leadership() (e proto.Leadership, ok bool) {
	if len(c.believers) != 1 || c.leaders != 1 {
		return proto.Leadership{}, false
	}
	for e, n := range c.believers {
		return e, n == c.living
	}
	return proto.Leadership{}, false
}
