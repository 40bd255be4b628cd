package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm with a lease has beyond others: promises, proofs
// of death, work that has to stop, and strangers.

// leasePlan says how a cluster with leases is set up, and how its hosts behave.
type leasePlan struct {
	Voters []proto.NodeID
	// Promise is the promise with which a process is configured when it starts. Processes with
	// different promises refuse each other's connections.
	Promise  time.Duration
	Keep     bool          // voters keep promises even to processes that are proven dead
	Unproven permille      // the share of deaths of which a node gets no proof; drawn for each node
	Proof    time.Duration // the longest time until a proof of death comes
	Drain    time.Duration // the longest time until a former leader's work has stopped
	Forged   permille      // the share of requests to voters that a stranger grants
	Brief    bool          // the run ends as soon as all agree
	fencePlan
	storePlan
}

// plainLease returns a plan in which nothing is late and every death is proven.
func plainLease(delta time.Duration) leasePlan {
	return leasePlan{Proof: 2 * delta, Drain: 2 * delta, storePlan: plainStore(delta)}
}

func (p leasePlan) leaseLines() []string {
	if p.Store {
		return p.storeLines()
	}
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

// proveDeath gives other nodes the proof that a process is dead, if nothing blocks the network
// between them.
func (c *cluster) proveDeath(dead *node, l *life) {
	if !c.algo.Leased {
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
					c.step(n, algorithms.PeerProvenDead{ID: dead.id, Incarnation: l.incarnation}, c.root)
				})
			}
		})
	}
}

// mayLead reports whether a node can lead at all: where there are voters only a voter can.
func (c *cluster) mayLead(id proto.NodeID) bool {
	return !c.algo.Leased || c.algo.Store || slices.Contains(c.Voters, id)
}

// stopWork makes the work of a process stop some time after the process has stopped leading.
func (c *cluster) stopWork(n *node, was algorithms.Leader) {
	l := n.life
	works := c.algo.Leased || c.algo.Recovers
	if !works || was.ID != n.id || l.belief.Leadership() == was.Leadership() {
		return
	}
	l.drains = true
	l.working = append(l.working, was.Term)
	over := max(c.now+c.dice.between(0, c.Drain), c.loansOver(l, was.Term))
	c.queue.plan(over, func() {
		c.attend(n, l, func() {
			l.drains = false
			l.working = slices.DeleteFunc(l.working, func(t proto.Term) bool { return t == was.Term })
			c.step(n, algorithms.WorkStopped{Term: was.Term}, c.root)
		})
	})
}

// watchLease ends the leadership of a node in the census when the lease ends by the node's clock.
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

// forge makes a stranger grant what a node asked the voters for. A stranger is a node that is no
// voter, or does not even exist.
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
	by := origin{promise: n.promise}
	c.queue.plan(c.now+c.dice.between(0, 2*c.delta), func() { c.arrive(forged, by, apart) })
}
