package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// analyse counts what follows from one cause when nothing else happens: "Let's assume no failures
// occur during the election protocol itself, and there are N processes. How many messages?"
// (lecture notes)
//
// At the beginning all nodes know each other and agree on the best one. Then the initiators get
// their cause. The run ends when all living nodes agree, and no message that the cause led to is
// under way. Every message takes half a Delta, so that no timeout ends early.
//
// The failure detector tells only the initiators, and only of the nodes that are dead at the start, unless
// Options.Detector is Perfect. What is missed so is a finding, not a violation: "Incompleteness in FD =>
// N80's failure might be missed" (lecture notes).
func analyse(o Options) (Result, error) {
	preempt := o.Algorithm.Preempt
	if o.Preempt != nil {
		preempt = *o.Preempt
	}
	c := newCluster(o, o.members(), preempt, weather{MinDelay: o.delta() / 2, MaxDelay: o.delta() / 2})
	if c.algo.OwnLease { // all vote
		for _, n := range c.nodes {
			c.Voters = append(c.Voters, n.id)
		}
		c.Promise, c.Unproven = c.algo.Promise(c.delta), provesNothing
	}
	c.detector.off = true
	c.root = apart
	drawn := []string{}
	if o.Members != nil {
		c.seat(o.Members)
	}
	if o.Shuffle {
		drawn = append(drawn, c.shuffle(newDice(o.Seed, streamPlan)))
	}
	bound := c.algo.Agreement(c.delta, len(c.nodes))
	c.trace.mute = true
	c.assemble()
	// With leases of its own a leader stays: who calls an election does so before
	// anybody led, once all know that nobody ever voted.
	ready := func() bool { return c.census.agreed != never }
	if c.algo.OwnLease && len(o.Crashed) == 0 {
		ready = c.allMayVote
	}
	c.runTo(bound, func() bool { return ready() && c.now >= c.lastMail })
	c.trace.mute = false

	began := c.now
	c.trace.zero, c.steps = began, 0
	c.census.restart(began)
	c.cause(o)
	c.detector.off = o.detector() == None
	c.detector.minDelay, c.detector.maxDelay = c.delta, c.delta
	done := func() bool { return c.census.agreed != never && c.flying == 0 && c.now >= c.lastCrash }
	agreed := done() || c.runTo(began+bound, done)
	finding := ""
	switch blind := o.detector() == None; {
	case agreed:
	case blind && c.unnoticed():
		finding = incompleteness + ": " + c.beliefs()
	default:
		c.violated(agreement, 0, c.beliefs())
	}
	r := c.result(o)
	r.Finding = finding
	for _, crash := range o.Crashes {
		if n := c.node(crash.ID); crash.On != "" && n.life != nil && n.life.doom != nil {
			r.Missed = append(r.Missed, fmt.Sprintf("%d sent no %s", crash.ID, crash.On))
		}
	}
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
	view := c.all(nil)
	for _, n := range c.nodes {
		c.tell(n, view, "joined", c.root)
	}
}

// allMayVote reports whether every voter has found out that it may vote.
func (c *cluster) allMayVote() bool {
	return !slices.ContainsFunc(c.Voters, func(id proto.NodeID) bool { return !c.node(id).saved() })
}

// all returns a view of all nodes without these.
func (c *cluster) all(without []proto.NodeID) []proto.Peer {
	view := make([]proto.Peer, 0, len(c.nodes))
	for _, n := range c.nodes {
		if !slices.Contains(without, n.id) {
			view = append(view, n.peer())
		}
	}
	return view
}

// seat puts the nodes on the ring in this order.
func (c *cluster) seat(order []scenario.Member) {
	places := make(map[proto.NodeID]uint64, len(order))
	for i, m := range order {
		places[m.ID] = uint64(i)
	}
	c.place = func(id proto.NodeID) uint64 { return places[id] }
}

// shuffle puts the nodes on the ring in random order, and describes that order.
func (c *cluster) shuffle(d dice) string {
	order := make([]scenario.Member, len(c.nodes))
	ids := make([]proto.NodeID, len(c.nodes))
	for i, place := range d.Perm(len(c.nodes)) {
		ids[place] = c.nodes[i].id
		order[place].ID = c.nodes[i].id
	}
	c.seat(order)
	return "ring order " + join(ids)
}

// cause lets the nodes crash that are to be dead at the start, and gives the initiators the cause of the
// election: the loss of the leader if it is one of the dead, otherwise an operator's request.
func (c *cluster) cause(o Options) {
	leader, _ := c.census.leadership()
	for _, crash := range o.Crashes {
		c.planCrash(crash)
	}
	told := c.bury(o)
	for _, n := range c.nodes {
		if n.life == nil || !o.initiates(n.id) {
			continue
		}
		told(n)
		if !slices.Contains(o.Crashed, leader.Leader) {
			c.step(n, algorithms.Campaign{Reason: "the operator asked"}, 0)
		}
	}
	if len(o.Crashed) == 0 {
		return
	}
	c.queue.plan(c.now+c.delta, func() {
		for _, n := range c.nodes {
			if n.life != nil && !o.initiates(n.id) {
				told(n)
			}
		}
	})
}

// planCrash lets a node crash during the election.
func (c *cluster) planCrash(crash scenario.Crash) {
	n := c.node(crash.ID)
	if crash.On != "" {
		c.killWithin(n, doom{word: crash.On, after: math.MaxInt})
		return
	}
	c.lastCrash = max(c.lastCrash, c.now+crash.At)
	c.queue.plan(c.now+crash.At, func() { c.kill(n) })
}

// incompleteness is the finding that a crash was missed.
const incompleteness = "incompleteness of the failure detector: a node crashed, and nobody was told"

// unnoticed reports whether some living node takes a dead one for alive.
func (c *cluster) unnoticed() bool {
	for _, n := range c.nodes {
		if n.life != nil &&
			slices.ContainsFunc(n.life.view, func(p proto.Peer) bool { return c.node(p.ID).life == nil }) {
			return true
		}
	}
	return false
}

// provesNothing is the value of Unproven in an analysis: the analysis itself gives the proofs of
// death.
const provesNothing = permille(1000)

// bury lets the nodes crash that are to be dead at the start. It returns the function that tells a node of
// it: the initiators are told at once, the others after a Delta, or never if there is no detector. If the
// algorithm has leases of its own, every voter also gets proofs of the deaths, which do not come from a
// detector.
func (c *cluster) bury(o Options) (told func(*node)) {
	var dead []algorithms.PeerProvenDead
	var ids []proto.NodeID
	for _, id := range o.Crashed {
		if n := c.node(id); n.life != nil {
			dead = append(dead, algorithms.PeerProvenDead{ID: id, Incarnation: n.life.incarnation})
			ids = append(ids, id)
			c.kill(n)
		}
	}
	if dead == nil {
		return func(*node) {}
	}
	verb := "does"
	if len(ids) > 1 {
		verb = "do"
	}
	what := fmt.Sprintf("%s %s not answer", join(ids), verb)
	return func(n *node) {
		if o.initiates(n.id) || o.detector() != None {
			c.tell(n, c.all(ids), what, 0)
		}
		if c.algo.OwnLease {
			for _, proof := range dead {
				c.step(n, proof, 0)
			}
		}
	}
}
