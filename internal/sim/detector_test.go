package sim

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// newTestCluster starts n toys that know each other, in calm and even weather.
func newTestCluster(t *testing.T, n int, f flaw) *cluster {
	t.Helper()
	o := Options{Algorithm: toyAlgorithm(f)}
	delay := o.delta() / 2
	c := newCluster(o, scenario.Numbered(n), false, weather{MinDelay: delay, MaxDelay: delay})
	c.assemble()
	c.detector.minDelay, c.detector.maxDelay = o.delta(), o.delta()
	return c
}

// A detector sees a cut as far as its sight goes: gossip goes round a cut pair,
// and round a link that is cut in one direction; a node without any way back is
// gone; heartbeats notice every cut of their own link.
func TestDetectorSight(t *testing.T) {
	type views map[proto.NodeID]string
	all := views{1: "1 2 3 4", 2: "1 2 3 4", 3: "1 2 3 4", 4: "1 2 3 4"}
	without4 := views{1: "1 2 3", 2: "1 2 3", 3: "1 2 3", 4: "4"}
	halves := views{1: "1 2", 2: "1 2", 3: "3 4", 4: "3 4"}
	for _, c := range []struct {
		name  string
		sight sight
		cut   func(*cluster) []link
		want  views
	}{
		{"crashes only", seesCrashes, func(c *cluster) []link { return c.deaf(4) }, all},
		{"gossip, a pair", seesPaths, func(*cluster) []link { return bothWays(1, 4) }, all},
		{"gossip, one way", seesPaths, func(*cluster) []link { return oneWay(1, 4) }, all},
		{"gossip, deaf", seesPaths, func(c *cluster) []link { return c.deaf(4) }, without4},
		{"gossip, mute", seesPaths, func(c *cluster) []link { return c.mute(4) }, without4},
		{"gossip, halves", seesPaths, func(c *cluster) []link {
			return c.split(func(id proto.NodeID) int { return int(id-1) / 2 })
		}, halves},
		{
			"heartbeats, one way", seesLinks, func(*cluster) []link { return oneWay(1, 4) },
			views{1: "1 2 3", 2: "1 2 3 4", 3: "1 2 3 4", 4: "2 3 4"},
		},
		{"heartbeats, deaf", seesLinks, func(c *cluster) []link { return c.deaf(4) }, without4},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := newTestCluster(t, 4, sound)
			cluster.detector.sight = c.sight
			links := c.cut(cluster)
			cluster.cut(links, c.name)
			cluster.runUntil(cluster.now + 2*cluster.delta)
			expectViews(t, cluster, c.want)
			cluster.uncut(links, c.name)
			cluster.runUntil(cluster.now + 2*cluster.delta)
			expectViews(t, cluster, all)
		})
	}
}

func expectViews(t *testing.T, c *cluster, want map[proto.NodeID]string) {
	t.Helper()
	for _, n := range c.nodes {
		var ids []proto.NodeID
		for _, p := range n.life.view {
			ids = append(ids, p.ID)
		}
		if got := join(ids); got != want[n.id] {
			t.Errorf("%d sees %s, want %s", n.id, got, want[n.id])
		}
	}
}

// A detector may be wrong: it suspects the living, misses the dead, and does not
// see that another process runs where it saw one.
func TestDetectorLies(t *testing.T) {
	c := newTestCluster(t, 3, sound)
	watcher, victim := c.node(1), c.node(3)
	before := victim.peer()

	c.lieTo(watcher, victim, suspects)
	expectViews(t, c, map[proto.NodeID]string{1: "1 2", 2: "1 2 3", 3: "1 2 3"})
	c.truth(watcher, victim)
	c.lieTo(watcher, victim, misses)
	c.kill(victim)
	c.restart(victim)
	c.runUntil(c.now + 2*c.delta)
	if at, ok := findPeer(watcher.life.view, 3); !ok || watcher.life.view[at] != before {
		t.Errorf("1 sees %v, want the former life %v", watcher.life.view, before)
	}
	c.truth(watcher, victim)
	if at, _ := findPeer(watcher.life.view, 3); watcher.life.view[at] != victim.peer() {
		t.Errorf("1 sees %v, want %v", watcher.life.view, victim.peer())
	}
}
