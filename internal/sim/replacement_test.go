package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// Those that ask a majority themselves let the lease machine ask at the same time.
func TestThoseWithAQuorumContend(t *testing.T) {
	for _, e := range catalog.All() {
		config := algorithms.Config{Self: 1, Delta: time.Second, Voters: []proto.NodeID{1}}
		_, contends := e.New(config).(lease.Contender)
		if e.Guarantee == algorithms.Quorum && !contends {
			t.Errorf("%s lets the lease machine wait", e.Name)
		}
	}
}

// saves counts the writes to each node's disk.
type saves struct{ of map[proto.NodeID]int }

func (k saves) check(s *step) string {
	if s.out.Save != nil {
		k.of[s.node.id]++
	}
	return ""
}

// replace lets the leader of five voters die, all others have proof of it at one
// instant, and tells how many messages one after the other it takes until the next
// leads, and how many of the votes that this takes are written to each disk.
func replace(t *testing.T, name string) (hops int, written map[proto.NodeID]int) {
	t.Helper()
	const nodes = 5
	o := Options{Algorithm: leased(t, name), Seed: 1}
	hop := o.delta() / 2
	c := newCluster(o, scenario.Numbered(nodes), false, weather{MinDelay: hop, MaxDelay: hop})
	for _, n := range c.nodes {
		c.Voters = append(c.Voters, n.id)
	}
	c.Promise, c.Unproven, c.detector.off = c.algo.Promise(c.delta), provesNothing, true
	c.assemble()
	c.runUntil(c.algo.Agreement(c.delta, nodes))
	dead := c.leader()
	proof := algorithms.PeerProvenDead{ID: dead.id, Incarnation: dead.life.incarnation}
	c.kill(dead)
	kept := saves{map[proto.NodeID]int{}}
	c.checkers = append(c.checkers, checker{check: kept.check})
	began := c.now
	for _, n := range c.nodes {
		if n.life != nil {
			c.tell(n, c.all([]proto.NodeID{dead.id}), "dead", 0)
			c.step(n, proof, 0)
		}
	}
	if !c.runTo(began+time.Minute, func() bool { return c.leader() != nil }) {
		t.Fatalf("%s: %s", name, c.beliefs())
	}
	return int((c.now - began) / hop), kept.of
}

// "From the proof of the leader's death to the next one's lease, of five voters": so
// many messages one after the other, and no algorithm with a quorum of its own takes
// more than the ring.
func TestMessagesFromProofToLease(t *testing.T) {
	want := map[string]int{
		"bully": 4, "chubby": 4, "raft": 4, "zookeeper": 4,
		"consensus": 6,
		"ring":      8,
	}
	for name, hops := range want {
		if got, _ := replace(t, name); got != hops {
			t.Errorf("%s: %d messages one after the other, want %d", name, got, hops)
		}
	}
}

// "And two writes to the disk, one after the other, with any": the vote of the one that leads next
// for itself, before it asks, and that of each other. No nomination writes anything.
func TestWritesFromProofToLease(t *testing.T) {
	for _, name := range catalog.Names() {
		_, written := replace(t, name)
		if len(written) != 4 {
			t.Errorf("%s: %v, want one of each that lives", name, written)
		}
		for id, n := range written {
			if n != 1 {
				t.Errorf("%s: %d writes of node %d", name, n, id)
			}
		}
	}
}
