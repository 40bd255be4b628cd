package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// topology is a network of which some links are cut for good.
type topology struct {
	name string
	open func(n int, from, to proto.NodeID) bool
}

// star joins all to a hub, and to nobody else.
func star(hub func(n int) proto.NodeID) func(int, proto.NodeID, proto.NodeID) bool {
	return func(n int, from, to proto.NodeID) bool { return from == hub(n) || to == hub(n) }
}

func ofLowest(int) proto.NodeID    { return 1 }
func ofMiddle(n int) proto.NodeID  { return proto.NodeID(n/2 + 1) }
func ofHighest(n int) proto.NodeID { return proto.NodeID(n) }

// bridge joins two cliques, as large as each other, by one node that is in both.
func bridge(by func(n int) proto.NodeID) func(int, proto.NodeID, proto.NodeID) bool {
	return func(n int, from, to proto.NodeID) bool {
		b := by(n)
		side := func(id proto.NodeID) bool {
			if id > b {
				id--
			}
			return int(id) <= n/2
		}
		return from == b || to == b || side(from) == side(to)
	}
}

func distance(a, b proto.NodeID) int { return max(int(a)-int(b), int(b)-int(a)) }

var topologies = []topology{
	{"star, hub lowest", star(ofLowest)},
	{"star, hub in the middle", star(ofMiddle)},
	{"star, hub highest", star(ofHighest)},
	{"chain", func(_ int, a, b proto.NodeID) bool { return distance(a, b) == 1 }},
	{"ring of links", func(n int, a, b proto.NodeID) bool { d := distance(a, b); return d == 1 || d == n-1 }},
	{"bridge lowest", bridge(ofLowest)},
	{"bridge in the middle", bridge(ofMiddle)},
	{"bridge highest", bridge(ofHighest)},
	{"the two highest apart", func(n int, a, b proto.NodeID) bool { return min(int(a), int(b)) < n-1 }},
	{"the highest and the lowest apart", func(n int, a, b proto.NodeID) bool { return distance(a, b) < n-1 }},
	{"the highest hears nobody", func(n int, _, b proto.NodeID) bool { return int(b) < n }},
	{"nobody hears the highest", func(n int, a, _ proto.NodeID) bool { return int(a) < n }},
	{"the highest hears the lowest only", func(n int, a, b proto.NodeID) bool { return int(b) < n || a == 1 }},
	{"only the lowest hears the highest", func(n int, a, b proto.NodeID) bool { return int(a) < n || b == 1 }},
	{"the lowest does not hear the highest", func(n int, a, b proto.NodeID) bool { return int(a) < n || b != 1 }},
	{"the highest does not hear the lowest", func(n int, a, b proto.NodeID) bool { return int(b) < n || a != 1 }},
}

// drawn are random networks, of which some have links that work one way only.
func drawn(seed uint64) topology {
	name := fmt.Sprintf("drawn, number %d", seed)
	return topology{name, func(n int, a, b proto.NodeID) bool {
		if seed%2 == 0 && a > b {
			a, b = b, a
		}
		at := rand.New(rand.NewPCG(seed, uint64(n)*10_000+uint64(a)*100+uint64(b)))
		return at.IntN(10) < 6
	}}
}

func init() {
	for seed := range uint64(6) {
		topologies = append(topologies, drawn(seed))
	}
}

// couldWin is how many nodes reach a majority, itself included, there and back.
func (t topology) couldWin(n int) (could int) {
	for a := 1; a <= n; a++ {
		if t.reached(n, proto.NodeID(a)) > n/2 {
			could++
		}
	}
	return could
}

func (t topology) reached(n int, a proto.NodeID) int {
	reached := 1
	for b := proto.NodeID(1); int(b) <= n; b++ {
		if a != b && t.open(n, a, b) && t.open(n, b, a) {
			reached++
		}
	}
	return reached
}

// sightings are what a run showed.
type sightings struct {
	gaps    int           // times without a leader, longer than a hand-over takes
	dark    time.Duration // in all of them, hand-overs included
	longest time.Duration
	leaders int           // how many leaderships there were
	settled time.Duration // when the last of them began
}

// handOverDeltas is how long, in Deltas, nobody leads at most while a leader hands over:
// its work stops, RELEASE and TIMEOUT_NOW, and two rounds of questions.
const handOverDeltas = 10

const watchTime = 10 * time.Minute

// watch looks at a cluster for a while.
func (c *cluster) watch(span time.Duration) (r sightings) {
	began, led, since := c.now, true, c.now
	var last proto.Leadership
	if at := c.leader(); at != nil {
		last = at.life.belief.Leadership()
	}
	look := func() bool {
		switch lit := c.census.leaders > 0; {
		case led && !lit:
			led, since = false, c.now
		case !led && lit:
			led = true
			r.gap(c.now-since, c.delta)
		}
		if at := c.leader(); led && at != nil && at.life.belief.Term > last.Term {
			last = at.life.belief.Leadership()
			r.leaders, r.settled = r.leaders+1, c.now-began
		}
		return false
	}
	look()
	c.runTo(began+span, look)
	if !led {
		r.gap(c.now-since, c.delta)
	}
	return r
}

func (r *sightings) gap(t, delta time.Duration) {
	r.dark += t
	r.longest = max(r.longest, t)
	if t > handOverDeltas*delta {
		r.gaps++
	}
}

// worst is the worst of two, in each regard.
func (r sightings) worst(o sightings) sightings {
	return sightings{
		max(r.gaps, o.gaps), max(r.dark, o.dark), max(r.longest, o.longest), max(r.leaders, o.leaders),
		max(r.settled, o.settled),
	}
}

func (r sightings) String() string {
	return fmt.Sprintf("%d times without a leader, %v in all, %v at the longest; %d leaderships, the last after %v",
		r.gaps, r.dark.Round(time.Millisecond), r.longest.Round(time.Millisecond), r.leaders,
		r.settled.Round(time.Second))
}

// setting is how a cluster comes to its topology.
type setting struct {
	sight   sight
	preempt bool
	later   bool // the links are cut once there is a leader
}

// settings are whether a leader hands over to a better node, and what the detectors see.
var settings = []setting{
	{seesLinks, true, false}, {seesLinks, false, true}, {seesPaths, false, false}, {seesCrashes, true, true},
}

// calmAt makes a cluster that is down, with the pace of the profile lan.
func (s *suite) calmAt(delta time.Duration, set setting) *cluster {
	o := Options{Algorithm: s.algo, Seed: uint64(s.nodes), Delta: delta}
	c := newCluster(o, scenario.Numbered(s.nodes), set.preempt, calm(delta))
	c.limit, c.healAt = 1<<40, never/2
	c.detector.sight, c.detector.maxDelay = set.sight, delta
	if s.algo.Leased {
		for _, n := range c.nodes {
			c.Voters = append(c.Voters, n.id)
		}
		c.Promise = 3 * s.algo.Promise(delta)
	}
	return c
}

// in cuts for good what is not open, once there is a leader, or while nobody runs: all have
// voted before, since a voter of which nothing is saved may need to hear all others.
func (c *cluster) in(t topology, set setting) {
	var links []link
	for _, a := range c.nodes {
		for _, b := range c.nodes {
			if a != b && !t.open(len(c.nodes), a.id, b.id) {
				links = append(links, link{a.id, b.id})
			}
		}
	}
	c.assemble()
	c.runUntil(c.algo.Agreement(c.delta, len(c.nodes)))
	if set.later {
		c.cut(links, t.name)
		return
	}
	for _, n := range c.nodes {
		c.kill(n)
	}
	c.cut(links, t.name)
	for _, n := range c.nodes {
		c.restart(n)
	}
}

// "In ten virtual minutes of any fixed topology in which some node reaches a majority, there
// is one gap (the first election)": or, where links are cut later, none or the one that this
// makes. Each leadership after the first is that of a better node that could win, to which
// the leader handed over: so there are no more than nodes that could, and where leaders do
// not prefer better nodes there are two at the most.
func TestFixedTopologies(t *testing.T) {
	for _, e := range underTest(t) {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			var worst sightings
			runs, sizes, sets := 0, []int{5}, settings[:1]
			if slices.Contains(inAllSizes, e.Name) && long.Test(t) {
				sizes, sets = []int{3, 5, 7}, settings
			}
			for _, n := range sizes {
				s := suite{t: t, algo: entered(e.WithLease()), nodes: n}
				for _, top := range topologies {
					for _, set := range sets {
						if top.couldWin(n) > 0 {
							runs++
							worst = worst.worst(s.lastsIn(t, top, set))
						}
					}
				}
			}
			t.Logf("the worst of %d runs: %v", runs, worst)
		})
	}
}

func TestLongFixedTopologies(t *testing.T) { TestFixedTopologies(t) }

// inAllSizes are algorithms that differ in how a leader is found.
var inAllSizes = []string{"bully", "ring", "raft", "chubby", "zookeeper", "consensus"}

// underTest are inAllSizes in make test, and all algorithms in make test-long.
func underTest(t *testing.T) []catalog.Entry {
	return slices.DeleteFunc(catalog.All(), func(e catalog.Entry) bool {
		return !long.Test(t) && !slices.Contains(inAllSizes, e.Name)
	})
}

// lastsIn demands that a leader lasts in a topology.
func (s *suite) lastsIn(t *testing.T, top topology, set setting) sightings {
	t.Helper()
	const mostGaps = 1
	mostLeaders := top.couldWin(s.nodes)
	if !set.preempt {
		mostLeaders = min(mostLeaders, 2)
	}
	c := s.calmAt(30*time.Millisecond, set)
	c.in(top, set)
	r := c.watch(watchTime)
	if r.gaps > mostGaps || r.leaders > mostLeaders || c.leader() == nil || len(c.violations) > 0 {
		t.Errorf("%d nodes, %s, %+v: %v %v", s.nodes, top.name, set, r, c.violations)
	}
	return r
}

// "A leader hands over to a node that a majority answers, and to no other": also when it is
// to stop, resigns, or is told that it may not lead. So wherever one that it reaches could
// win, nobody leads only for as long as a hand-over takes. Nodes that do not hear the leader
// may stand in that moment: then the two try once more.
func TestWhoLeavesHandsOver(t *testing.T) {
	ends := []algorithms.Event{algorithms.Resign{}, algorithms.Eligible{Why: "it fell ill"}}
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			sets, runs, longest := settings[:1], 0, time.Duration(0)
			if slices.Contains(inAllSizes, e.Name) && long.Test(t) {
				sets = settings
			}
			s := suite{t: t, algo: entered(e.WithLease()), nodes: 5}
			for _, top := range append(topologies, secondBest) {
				for _, set := range sets {
					c := s.calmAt(30*time.Millisecond, set)
					c.in(top, set)
					c.runUntil(c.now + 30*time.Second)
					l := c.leader()
					if l == nil || !top.hasSuccessor(s.nodes, l.id) {
						continue
					}
					most := handOverDeltas * c.delta
					if top.reached(s.nodes, l.id) < s.nodes {
						most += lease.ClaimTimeout(c.Promise, c.delta, 0) + 2*lease.Pause(c.Promise, c.delta, 1)
					}
					c.giveWay(l, 0, ends[runs%len(ends)])
					r := c.watch(5 * time.Second)
					runs, longest = runs+1, max(longest, r.longest)
					if r.longest > most || r.leaders == 0 || len(c.violations) > 0 {
						t.Errorf("%s, %+v, %d leaves: %v, want %v at the longest; %v",
							top.name, set, l.id, r, most, c.violations)
					}
				}
			}
			t.Logf("the longest gap of %d hand-overs: %v", runs, longest.Round(time.Millisecond))
		})
	}
}

func TestLongWhoLeavesHandsOver(t *testing.T) { TestWhoLeavesHandsOver(t) }

// secondBest is whom the best node reaches, and nobody else does.
var secondBest = topology{"the second best reaches the best only", func(n int, a, b proto.NodeID) bool {
	second := proto.NodeID(n - 1)
	return a != second && b != second || max(a, b) == proto.NodeID(n)
}}

// hasSuccessor reports whether another node reaches the leader, and a majority, there and back.
func (t topology) hasSuccessor(n int, leader proto.NodeID) bool {
	for a := proto.NodeID(1); int(a) <= n; a++ {
		if a != leader && t.open(n, a, leader) && t.open(n, leader, a) && t.reached(n, a) > n/2 {
			return true
		}
	}
	return false
}

// Links that come and go each few seconds change no leader that keeps its majority.
func TestFlappingLinks(t *testing.T) {
	const nodes = 5
	flaps := []struct {
		what  string
		links func(c *cluster, leader, a, b proto.NodeID) []link
	}{
		{"off a follower", func(c *cluster, _, a, _ proto.NodeID) []link { return c.off(a) }},
		{"off two followers", func(c *cluster, _, a, b proto.NodeID) []link { return append(c.off(a), c.off(b)...) }},
		{"into a follower", func(c *cluster, _, a, _ proto.NodeID) []link { return c.deaf(a) }},
		{"out of a follower", func(c *cluster, _, a, _ proto.NodeID) []link { return c.mute(a) }},
		{"leader and follower", func(_ *cluster, l, a, _ proto.NodeID) []link { return bothWays(l, a) }},
		{"leader to follower", func(_ *cluster, l, a, _ proto.NodeID) []link { return oneWay(l, a) }},
		{"follower to leader", func(_ *cluster, l, a, _ proto.NodeID) []link { return oneWay(a, l) }},
		{"two followers", func(_ *cluster, _, a, b proto.NodeID) []link { return bothWays(a, b) }},
	}
	for _, e := range underTest(t) {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			s := suite{t: t, algo: entered(e.WithLease()), nodes: nodes}
			for i, f := range flaps {
				c := s.calmAt(30*time.Millisecond, setting{sight: seesLinks, preempt: true})
				c.assemble()
				c.runUntil(c.algo.Agreement(c.delta, nodes))
				l := c.leader().id
				every := []time.Duration{700 * time.Millisecond, 3 * time.Second, 7 * time.Second}[i%3]
				c.flap(f.what, f.links(c, l, l%nodes+1, (l+1)%nodes+1), every)
				if r := c.watch(watchTime); r.leaders > 0 || r.dark > 0 || len(c.violations) > 0 {
					t.Errorf("%s, each %v: %v %v", f.what, every, r, c.violations)
				}
			}
		})
	}
}

func TestLongFlappingLinks(t *testing.T) { TestFlappingLinks(t) }

// A node that ranks highest, and whose links come and go, is preferred ever more rarely: it
// has to stay for longer each time.
func TestFlappingBest(t *testing.T) {
	const nodes, most, settles = 5, 6, time.Minute
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			s := suite{t: t, algo: entered(e.WithLease()), nodes: nodes}
			for _, preempt := range []bool{false, true} {
				c := s.calmAt(30*time.Millisecond, setting{sight: seesLinks, preempt: preempt})
				c.assemble()
				c.runUntil(c.algo.Agreement(c.delta, nodes))
				c.flap("off the best", c.off(nodes), 7*time.Second)
				if r := c.watch(watchTime); r.leaders > most || r.settled > settles || len(c.violations) > 0 {
					t.Errorf("preempt %v: %v %v", preempt, r, c.violations)
				}
			}
		})
	}
}

// off are the links of one node.
func (c *cluster) off(id proto.NodeID) []link { return append(c.deaf(id), c.mute(id)...) }

// flap cuts links and recovers from them, again and again.
func (c *cluster) flap(what string, links []link, every time.Duration) {
	c.cut(links, what)
	c.queue.plan(c.now+every, func() {
		c.uncut(links, what)
		c.queue.plan(c.now+every, func() { c.flap(what, links, every) })
	})
}
