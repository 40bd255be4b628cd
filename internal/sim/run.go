package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// The invariants of a run as a whole.
var (
	agreement = Invariant{"agreement", "within the stated bound after the network has calmed, " +
		"every living node names the same living leader, which itself believes that it leads"}
	quiet        = Invariant{"quiet", "once all agree and nothing fails, no term begins"}
	bestInTheEnd = Invariant{"best-in-the-end", "with pre-emption, the best living node leads " +
		"in the end, unless somebody stands aside"}
	ends = Invariant{"ends", "a run takes no more Steps than any sane one"}
)

// Run makes one run. The same Options give the same Result and, to the byte, the same trace. Broken
// invariants are in the Result. The error is for Options that do not fit together (ErrOptions), and
// for a Trace that cannot be written. Several runs may go on at the same time, each in its own
// goroutine.
func Run(o Options) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	if o.analysis() {
		return analyse(o)
	}
	return runUnderFaults(o)
}

// runUnderFaults makes a run in two phases. In the first things fail, and safety must hold. In the
// second everything is well, and the nodes must agree.
func runUnderFaults(o Options) (Result, error) {
	p := draw(o)
	c := newPlanned(o, p)
	c.runUntil(p.Heal)
	c.heal(p)
	after, bound := c.demandAgreement()
	c.demandRecovery()

	r := c.result(o)
	r.Drawn = p.Lines()
	r.AgreedSeconds, r.BoundSeconds = after.Seconds(), bound.Seconds()
	return r, c.trace.failure()
}

// newPlanned returns a cluster with all events of the plan in its queue.
func newPlanned(o Options, p plan) *cluster {
	c := newCluster(o, scenario.Numbered(p.Nodes), p.Preempt, p.Weather)
	c.detector.sight, c.detector.maxDelay = p.Sight, p.Notice
	c.timerLag, c.spurious = p.TimerLag, p.Spurious
	c.healAt = p.Heal
	c.leasePlan = p.leasePlan
	if o.Algorithm.Recovers {
		c.hook, c.Drain = c.unreliable, one(c.dice, time.Duration(0), 2, 20)*c.delta
	}
	if p.Accurate {
		c.checkers = append(c.checkers, newBestLeads(p))
	}
	if p.Agents {
		c.checkers = append(c.checkers, fenceCheckers(p.Lies == 0)...)
	}
	c.checkers = append(c.checkers, checker{
		Invariant{"damped", "elections are damped, never endless, while detectors err"},
		(&damped{delta: c.delta}).check,
	})
	sampled := c.nodes[c.dice.IntN(p.Nodes)]
	c.sample = func(n *node) bool { return n == sampled && !p.Brief }
	for i, n := range c.nodes {
		n.attr = p.Attributes[i]
		n.clock = clock{offset: p.Offsets[i], driftPPM: p.DriftPPM[i]}
		if !p.Accurate {
			c.queue.plan(p.Starts[i], func() { c.restart(n) })
		}
	}
	if p.Accurate {
		c.assemble()
	}
	for _, f := range p.Faults {
		c.queue.plan(f.At, func() { f.do(c) })
	}
	return c
}

// heal ends all faults: the network is as Machines plan for, detectors are right within Delta,
// hosts are prompt, and nodes that are down start again, except for those that the plan leaves
// dead.
func (c *cluster) heal(p plan) {
	c.trace.note(c.now, "heal")
	c.healed = true
	c.stayIneligible = p.StayIneligible
	c.network.clear()
	c.network.weather = calm(c.delta)
	c.detector.sight, c.detector.maxDelay = seesCrashes, c.delta
	clear(c.detector.lies)
	c.facts.network(c)
	c.facts.deceive(c)
	c.detector.regions = nil
	c.timerLag = 0
	c.Proof, c.Drain, c.Forged = 2*c.delta, 2*c.delta, 0
	c.AgentDelay, c.Fails, c.Lies, c.Relapse = 2*c.delta, 0, 0, 0
	c.healStore()
	for _, n := range c.nodes {
		if slices.Contains(p.StayDead, n.id) {
			c.kill(n)
			continue
		}
		if n.life != nil && n.promise != c.Promise {
			c.kill(n)
		}
		c.restart(n)
		n.life.doom, n.life.stun, n.life.trap = nil, nil, nil
		stays := slices.Contains(p.StayIneligible, n.id)
		if stays || n.life.ineligible {
			c.operate(n, algorithms.Eligible{OK: !stays, Why: map[bool]string{true: "for good"}[stays]})
		}
	}
	if c.algo.Leased && !c.algo.Store {
		c.vouch(p.StayDead)
	}
	c.news(0)
	c.callBack()
}

// callBack calls an election if every living node that could lead stands aside.
func (c *cluster) callBack() {
	var last *node
	for _, n := range c.nodes {
		if n.life == nil || !c.mayLead(n.id) || slices.Contains(c.stayIneligible, n.id) {
			continue
		}
		if !n.life.aside {
			return
		}
		last = n
	}
	c.operate(last, algorithms.Campaign{Reason: "all stand aside"})
}

// quietDeltas is how long, in Deltas, an agreement must last.
const quietDeltas = 100

// demandAgreement lets the network calm, and checks that all nodes agree within the bound and that
// nothing changes afterwards. It returns how long agreement took.
func (c *cluster) demandAgreement() (after, bound time.Duration) {
	began := max(c.now, c.lastMail, c.lastNotice)
	bound = c.algo.Agreement(c.delta, len(c.nodes))
	bound += scale(bound, 2*maxDriftPPM, million) // clocks may be slow
	agreed := func() bool { return c.Brief && c.census.agreed != never }
	if agreed() || c.runTo(began+bound, agreed) {
		return max(0, c.now-began), bound
	}
	was, ok := c.census.leadership()
	if c.endless() {
		c.violated(ends, 0, fmt.Sprintf("%d Steps", c.steps))
		return 0, bound
	}
	if !ok {
		c.violated(agreement, 0, c.beliefs())
		return 0, bound
	}
	after = max(0, c.census.agreed-began)
	if best := c.best(); c.preempt && best != 0 && was.Leader != best {
		c.violated(bestInTheEnd, was.Leader, fmt.Sprintf("leads term %d, %d is better", was.Term, best))
	}

	term := c.highestTerm()
	c.runUntil(c.now + quietDeltas*c.delta)
	if is, _ := c.census.leadership(); is != was || c.highestTerm() != term {
		c.violated(quiet, 0, fmt.Sprintf("leader %d of term %d, then %s", was.Leader, term, c.beliefs()))
	}
	return after, bound
}

// best returns the highest-ranked living node that may lead. It returns 0 if that node need not
// lead: some node stands aside, an operator transferred leadership, or an attribute changed
// although ranks are frozen for a term.
func (c *cluster) best() proto.NodeID {
	if c.reranked || c.transferred {
		return 0
	}
	var best proto.Rank
	for _, n := range c.nodes {
		if n.life == nil {
			continue
		}
		if n.life.aside {
			return 0
		}
		if rank := n.peer().Rank(); c.mayLead(n.id) && rank.Compare(best) > 0 {
			best = rank
		}
	}
	return best.ID
}

// beliefs describes whom every node names.
func (c *cluster) beliefs() string {
	s := ""
	for _, n := range c.nodes {
		if n.life == nil {
			s += fmt.Sprintf("%d is dead; ", n.id)
			continue
		}
		b := n.life.belief
		s += fmt.Sprintf("%d names %s in term %d; ", n.id, orNobody(b.ID), b.Term)
	}
	return s
}
