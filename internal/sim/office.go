package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm with an office has beyond others: promises, proofs
// of death, work that has to stop, and strangers.

// officePlan is how a cluster with an office is set up, and what its hosts do.
type officePlan struct {
	Voters []proto.NodeID
	// Promise is what a process that starts is configured with. Processes with
	// different ones refuse each other's connections.
	Promise  time.Duration
	Keep     bool          // promises to processes that are proven dead
	Unproven permille      // of the deaths, for each node
	Proof    time.Duration // a proof of death takes so long, at most
	Drain    time.Duration // what was done in office takes so long to stop, at most
	Forged   permille      // of the questions, that strangers answer with a grant
	Brief    bool          // the run ends once all agree
	fencePlan
}

// plainOffice is one in which nothing is late and all have proof.
func plainOffice(delta time.Duration) officePlan {
	return officePlan{Proof: 2 * delta, Drain: 2 * delta}
}

func (p officePlan) officeLines() []string {
	lines := []string{
		fmt.Sprintf("voters %s, promise %v, keep %v, brief %v",
			join(p.Voters), p.Promise, p.Keep, p.Brief),
		fmt.Sprintf("unproven deaths %v, proofs within %v, work stops within %v, forged grants %v",
			p.Unproven, p.Proof, p.Drain, p.Forged),
	}
	if p.Agents {
		lines = append(lines, p.fenceLine())
	}
	return lines
}

// proveDeath gives others the proof that a process is dead, if a connection to
// it stood: its machine closes that, and refuses a new one.
func (c *cluster) proveDeath(dead *node, l *life) {
	if !c.algo.Office {
		return
	}
	for _, n := range c.nodes {
		if n == dead || n.life == nil || c.dice.chance(c.Unproven) {
			continue
		}
		observer := n.life
		c.queue.plan(c.now+c.dice.between(0, c.Proof), func() {
			if c.network.open(n.id, dead.id) && c.network.open(dead.id, n.id) {
				c.attend(n, observer, func() {
					c.step(n, algorithms.Gone{ID: dead.id, Session: l.session}, c.root)
				})
			}
		})
	}
}

// mayLead reports whether a node can lead at all: with an office only a voter.
func (c *cluster) mayLead(id proto.NodeID) bool {
	return !c.algo.Office || slices.Contains(c.Voters, id)
}

// stopWork lets what a process did as a leader stop by and by, once it leads no
// more.
func (c *cluster) stopWork(n *node, was algorithms.Leader) {
	l := n.life
	works := c.algo.Office || c.algo.Mends
	if !works || was.ID != n.id || l.belief.Epoch() == was.Epoch() {
		return
	}
	l.drains = true
	l.working = append(l.working, was.Term)
	over := max(c.now+c.dice.between(0, c.Drain), c.loansOver(l, was.Term))
	c.queue.plan(over, func() {
		c.attend(n, l, func() {
			l.drains = false
			l.working = slices.DeleteFunc(l.working, func(t proto.Term) bool { return t == was.Term })
			c.step(n, algorithms.Idle{Term: was.Term}, c.root)
		})
	})
}

// watchLease counts a holder as one until its lease ends, by its own clock.
func (c *cluster) watchLease(n *node, was algorithms.Leader) {
	l, is := n.life, n.life.belief
	if is.ID != n.id || is.Until.IsZero() || is.Until.Equal(was.Until) {
		return
	}
	c.queue.plan(n.clock.when(is.Until), func() {
		if n.life == l && l.belief == is {
			c.census.lapse(c.now, n)
		}
	})
}

// forge lets strangers, that are no voters or do not even exist, answer a
// question with a grant.
func (c *cluster) forge(n *node, m proto.Message) {
	if !c.dice.chance(c.Forged) {
		return
	}
	grant, ok := grantOf(m.Body)
	if !ok {
		return
	}
	stranger := proto.NodeID(len(c.nodes)) + m.To
	if other := proto.NodeID(1 + c.dice.IntN(len(c.nodes))); !slices.Contains(c.Voters, other) {
		stranger = other
	}
	forged := proto.Message{From: stranger, To: n.id, Term: m.Term, Body: grant}
	promise := n.promise
	c.queue.plan(c.now+c.dice.between(0, 2*c.delta), func() { c.arrive(forged, promise, apart) })
}
