package sim

import (
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// analyse counts what follows from one cause when nothing else happens: "Let's assume no failures
// occur during the election protocol itself, and there are N processes. How many messages?"
// (lecture notes)
//
// At the beginning all nodes know each other and agree on the best one. Then the initiators get
// their cause. The run ends when all living nodes agree, and no message that the cause led to is
// under way. Every message takes half a Delta, so that no timeout ends early.
func analyse(o Options) (Result, error) {
	preempt := o.Algorithm.Preempt
	if o.Preempt != nil {
		preempt = *o.Preempt
	}
	c := newCluster(o, o.Nodes, preempt, weather{MinDelay: o.delta() / 2, MaxDelay: o.delta() / 2})
	if c.algo.OwnLease { // all vote
		for _, n := range c.nodes {
			c.Voters = append(c.Voters, n.id)
		}
		c.Promise, c.Unproven = c.algo.Promise(c.delta), provesNothing
	}
	c.detector.off = true
	c.root = apart
	drawn := []string{}
	if o.Shuffle {
		drawn = append(drawn, c.shuffle(newDice(o.Seed, streamPlan)))
	}
	bound := c.algo.Agreement(c.delta, o.Nodes)
	c.trace.mute = true
	c.assemble()
	// With leases of its own a leader stays: who calls an election does so before
	// anybody led, once all know that nobody ever voted.
	ready := func() bool { return c.census.agreed != never }
	if c.algo.OwnLease && o.Crashed == 0 {
		ready = c.allMayVote
	}
	c.runTo(bound, func() bool { return ready() && c.now >= c.lastMail })
	c.trace.mute = false

	began := c.now
	c.trace.zero, c.steps = began, 0
	c.census.restart(began)
	c.cause(o)
	done := func() bool { return c.census.agreed != never && c.flying == 0 }
	agreed := done() || c.runTo(began+bound, done)
	if !agreed {
		c.violated(agreement, 0, c.beliefs())
	}
	r := c.result(o)
	r.Drawn = drawn
	r.Seconds = (c.now - began).Seconds()
	r.AgreedSeconds, r.BoundSeconds = r.Seconds, bound.Seconds()
	return r, c.trace.failure()
}

// assemble starts all nodes and tells each of them about all others, without the detector.
func (c *cluster) assemble() {
	off := c.detector.off
	c.detector.off = true
	for _, n := range c.nodes {
		c.start(n)
	}
	c.detector.off = off
	view := c.all(0)
	for _, n := range c.nodes {
		c.tell(n, view, "joined", c.root)
	}
}

// allMayVote reports whether every voter has found out that it may vote.
func (c *cluster) allMayVote() bool {
	return !slices.ContainsFunc(c.Voters, func(id proto.NodeID) bool { return !c.node(id).saved() })
}

// all returns a view of all nodes except the node but.
func (c *cluster) all(but proto.NodeID) []proto.Peer {
	view := make([]proto.Peer, 0, len(c.nodes))
	for _, n := range c.nodes {
		if n.id != but {
			view = append(view, n.peer())
		}
	}
	return view
}

// shuffle puts the nodes on the ring in random order, and describes that order.
func (c *cluster) shuffle(d dice) string {
	places := d.Perm(len(c.nodes))
	c.place = func(id proto.NodeID) uint64 { return uint64(places[id-1]) }
	order := slices.Clone(c.nodes)
	slices.SortFunc(order, func(a, b *node) int { return places[a.id-1] - places[b.id-1] })
	ids := make([]proto.NodeID, len(order))
	for i, n := range order {
		ids[i] = n.id
	}
	return "ring order " + join(ids)
}

// cause gives the initiators the cause of the election.
func (c *cluster) cause(o Options) {
	if o.Crashed != 0 {
		c.causeByCrash(o)
		return
	}
	for _, n := range c.nodes {
		if o.AllInitiate || n.id == o.Initiator {
			c.step(n, algorithms.Campaign{Reason: "the operator asked"}, 0)
		}
	}
}

// provesNothing is the value of Unproven in an analysis: the analysis itself gives the proofs of
// death.
const provesNothing = permille(1000)

// causeByCrash tells the initiator at once that a node stopped answering. The others are told after
// a Delta, or never if there is no detector. If the algorithm has leases of its own, every voter
// also gets a proof of the death, at once or after a Delta, since a proof does not come from a
// detector.
func (c *cluster) causeByCrash(o Options) {
	dead := algorithms.PeerProvenDead{ID: o.Crashed, Incarnation: c.node(o.Crashed).life.incarnation}
	c.kill(c.node(o.Crashed))
	view := c.all(o.Crashed)
	what := fmt.Sprintf("%d does not answer", o.Crashed)
	told := func(n *node) {
		if n.id == o.Initiator || o.Detector != None {
			c.tell(n, view, what, 0)
		}
		if c.algo.OwnLease {
			c.step(n, dead, 0)
		}
	}
	told(c.node(o.Initiator))
	c.queue.plan(c.now+c.delta, func() {
		for _, n := range c.nodes {
			if n.life != nil && n.id != o.Initiator {
				told(n)
			}
		}
	})
}
