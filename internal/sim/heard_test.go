package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/scenario"
)

// "A process that is heard again by a new link is alive: its words count." Something on
// the way ends the connections of three leaders in turn, and refuses dials for a while:
// the others hold each for dead, and it them. When that is over, all agree within the
// bound.
func TestWhoIsHeardAgainLives(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, nodes := range []int{3, 5} {
			c := agreedVoters(t, name, nodes)
			bound := c.algo.Agreement(c.delta, nodes)
			for lie := 1; lie <= 3; lie++ {
				c.lieAbout(c.leader(), 2*c.Promise)
				if !c.runTo(c.now+bound, func() bool { return c.census.agreed != never }) {
					t.Errorf("%s, %d nodes: %v after lie %d: %s", name, nodes, bound, lie, c.beliefs())
					break
				}
			}
			// "Two may lead while it lies, never after it has gone and promises ran out."
			c.runTo(c.now+3*c.Promise, func() bool {
				leaders := 0
				for _, n := range c.nodes {
					if n.leads() {
						leaders++
					}
				}
				if leaders > 1 {
					t.Errorf("%s, %d nodes: two lead when nobody lies any more: %s", name, nodes, c.beliefs())
				}
				return leaders > 1
			})
		}
	}
}

// "Its words count": whoever alone holds a living leader for dead follows it again, in the
// term that it leads.
func TestWhoAloneWasLiedToFollowsAgain(t *testing.T) {
	for _, name := range catalog.Names() {
		c := agreedVoters(t, name, 3)
		leader := c.leader()
		term := leader.life.belief.Term
		other := c.nodes[leader.id%3]
		c.prove(other, leader)
		c.step(other, heard(leader), c.root)
		bound := c.algo.Agreement(c.delta, 3)
		if !c.runTo(c.now+bound, func() bool { return c.census.agreed != never }) {
			t.Errorf("%s: %v after the lie: %s", name, bound, c.beliefs())
		} else if l := c.leader(); l != leader || l.life.belief.Term != term {
			t.Errorf("%s: %d led in term %d and was heard again; then %s", name, leader.id, term, c.beliefs())
		}
	}
}

// agreedVoters is a cluster of voters that follow a leader.
func agreedVoters(t *testing.T, name string, nodes int) *cluster {
	t.Helper()
	return agreedAmong(t, leased(t, name), nodes)
}

// agreedAmong is a cluster of voters of an algorithm, which follow a leader.
func agreedAmong(t *testing.T, a Algorithm, nodes int) *cluster {
	t.Helper()
	o := Options{Algorithm: a, Seed: 1}
	hop := o.delta() / 2
	c := newCluster(o, scenario.Numbered(nodes), false, weather{MinDelay: hop, MaxDelay: hop})
	for _, n := range c.nodes {
		c.Voters = append(c.Voters, n.id)
	}
	c.Promise, c.Unproven, c.detector.sight = c.algo.Promise(c.delta), provesNothing, seesLinks
	c.assemble()
	if !c.runTo(c.algo.Agreement(c.delta, nodes), func() bool { return c.census.agreed != never }) {
		t.Fatalf("%s: nobody leads: %s", a.Name, c.beliefs())
	}
	c.runUntil(c.now + c.Promise)
	return c
}

// lieAbout ends all connections of a living process, and refuses new ones for a while.
func (c *cluster) lieAbout(n *node, span time.Duration) {
	links := append(c.deaf(n.id), c.mute(n.id)...)
	c.cut(links, "a liar")
	for _, other := range c.nodes {
		if other != n {
			c.prove(other, n)
			c.prove(n, other)
		}
	}
	c.runUntil(c.now + span)
	c.uncut(links, "a liar")
	for _, other := range c.nodes {
		if other != n {
			c.step(other, heard(n), c.root)
			c.step(n, heard(other), c.root)
		}
	}
}

// prove gives one node the proof that another is dead, right or wrong.
func (c *cluster) prove(to, dead *node) {
	c.step(to, algorithms.PeerProvenDead{ID: dead.id, Incarnation: dead.life.incarnation}, c.root)
}

func heard(n *node) algorithms.PeerHeardAgain {
	return algorithms.PeerHeardAgain{ID: n.id, Incarnation: n.life.incarnation}
}
