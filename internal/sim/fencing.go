package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// fencePlan says how the fence agents of a cluster behave.
type fencePlan struct {
	Agents     bool          // every node has an agent
	AgentDelay time.Duration // the longest time of an attempt
	Fails      permille      // the share of attempts that report a failure, with the process killed or not
	Lies       permille      // the share of attempts that report success and did nothing
	Revive     time.Duration // the longest time until the node of a killed process starts again
	Relapse    permille      // the share of attempts during which all nodes but the victim crash
}

// plainAgents returns a plan in which agents are fast, and neither fail nor lie. The parameter
// there says whether nodes have agents.
func plainAgents(there bool, delta time.Duration) fencePlan {
	return fencePlan{Agents: there, AgentDelay: 2 * delta, Revive: 20 * delta}
}

// fence draws how the agents behave. In half of the runs they do not lie.
func (d *drafter) fence() {
	d.Agents = true
	d.AgentDelay = one(d.dice, d.delta, d.Promise/2, 3*d.Promise)
	d.Fails = one(d.dice, permille(0), 0, 300, 900)
	d.Lies = one(d.dice, permille(0), 0, 300, 1000)
	d.Revive = one(d.dice, 2*d.delta, d.Promise)
	d.Relapse = one(d.dice, permille(0), 300)
	if len(d.Voters) > 2 && !d.Accurate && d.chance(50) {
		d.forgottenHolder()
	}
}

func (p fencePlan) fenceLine() string {
	return fmt.Sprintf("fence agents take up to %v, %v fail, %v lie, during %v the others crash; "+
		"the shot start again within %v", p.AgentDelay, p.Fails, p.Lies, p.Relapse, p.Revive)
}

// aim starts a node's fence agent if the node's Machine wants another attempt than the present one.
// If the Machine wants none, aim calls the present attempt off.
func (c *cluster) aim(n *node, want *algorithms.Fence) {
	l := n.life
	if want == nil || l.fence != nil && *l.fence == *want {
		if want == nil {
			l.fence = nil
		}
		return
	}
	asked := *want
	l.fence = &asked
	mine := l.fence
	shoots, says := true, true
	switch {
	case c.dice.chance(c.Lies):
		shoots = false
	case c.dice.chance(c.Fails):
		shoots, says = c.dice.chance(500), false
	}
	delay := c.dice.between(0, c.AgentDelay)
	if c.dice.chance(c.Relapse) {
		c.relapse(asked, delay/2)
	}
	// An agent is a process of its own: it acts even while the node is paused,
	// and even when it is called back too late.
	c.queue.plan(c.now+c.dice.between(0, delay), func() {
		if shoots && (n.life == l && l.fence == mine) {
			c.shoot(n, asked)
		}
	})
	c.queue.plan(c.now+delay, func() {
		c.attend(n, l, func() {
			if l.fence == mine {
				l.fence = nil
				detail := map[bool]string{true: "exit 0", false: "exit 1"}[says]
				c.step(n, algorithms.Fenced{Fence: asked, OK: says, Detail: detail}, c.root)
			}
		})
	})
}

// relapse waits for the time after, then pauses the node that is to be fenced and crashes all
// others. When the others come back, they must still know whom to fence.
func (c *cluster) relapse(f algorithms.Fence, after time.Duration) {
	back := c.dice.between(c.delta/10, c.Promise/4)
	c.later(after, func() {
		c.pause(c.node(f.ID), min(4*c.Promise, c.healAt-c.now))
		for _, n := range c.nodes {
			if n.id != f.ID {
				c.kill(n)
				c.later(back, func() { c.restart(n) })
			}
		}
	})
}

// shoot kills the process to be fenced, unless its node runs another process by then.
func (c *cluster) shoot(by *node, f algorithms.Fence) {
	victim := c.node(f.ID)
	if victim.life == nil || victim.life.incarnation != f.Incarnation {
		return
	}
	c.trace.note(c.now, "the fence agent of %d shoots %d", by.id, f.ID)
	c.kill(victim)
	c.queue.plan(c.now+c.dice.between(c.delta/10, c.Revive), func() { c.restart(victim) })
}

// fenceCheckers returns the checkers of the invariants of fencing. If the agents are honest, there
// are more of them.
func fenceCheckers(honest bool) []checker {
	checkers := []checker{
		{Invariant{"fences-by-majority", "nobody has another shot but with the promises of a majority for " +
			"the term it is to take: of two halves one at most shoots"}, (&fencesByMajority{}).check},
	}
	if honest {
		checkers = append(checkers, checker{
			Invariant{"fenced-first", "with honest fence agents nobody leads while a process that led before, " +
				"and has not released its term, still runs"}, (&fencedFirst{map[proto.NodeID]*mandated{}}).check,
		})
	}
	return checkers
}

// mandated is the latest leadership of a node.
type mandated struct {
	life     *life
	term     proto.Term
	released bool
}

type fencedFirst struct{ last map[proto.NodeID]*mandated }

func (k *fencedFirst) check(s *step) string {
	mine := k.last[s.node.id]
	for _, m := range s.out.Send {
		if _, ok := m.Body.(proto.Release); ok && mine != nil && m.Term == mine.term {
			mine.released = true
		}
	}
	if !s.claims() || s.prev().ID == s.node.id && s.prev().Term == s.out.Leader.Term {
		return ""
	}
	k.last[s.node.id] = &mandated{life: s.node.life, term: s.out.Leader.Term}
	for _, other := range s.cluster.nodes {
		was := k.last[other.id]
		if other != s.node && was != nil && other.life == was.life && !was.released {
			return fmt.Sprintf("takes term %d while %d runs, which held term %d",
				s.out.Leader.Term, other.id, was.term)
		}
	}
	return ""
}

type fencesByMajority struct {
	ballots ballots
	good    table[time.Time] // until when, by each process's own clock, the promises of a majority last
}

func (k *fencesByMajority) check(s *step) string {
	b, good := k.ballots.of(s), k.good.at(s.node.life.number)
	b.count(s)
	if i := b.won(s); i >= 0 {
		*good = b.polls[i].asked.Add(s.node.promise)
	}
	b.follow(s)
	if f := s.out.Fence; f != nil && (f.For != b.term || !s.now.Before(*good)) {
		return fmt.Sprintf("has %d shot for term %d, the promises for term %d are good for %v more",
			f.ID, f.For, b.term, good.Sub(s.now))
	}
	return ""
}
