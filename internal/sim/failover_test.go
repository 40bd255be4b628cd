package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A voter whose promise binds it to a process that is proven dead is free at once: the
// process's work ended with it. This is what replaces a leader in milliseconds although
// its lease still runs": whichever algorithm nominates, kill after kill, however soon
// after the start of a node that was killed before, be that the next to lead.
func TestProvenDeathCostsNoPromise(t *testing.T) {
	for _, e := range catalog.All() {
		e := e.WithLease()
		a := entered(e)
		a.Promise = func(delta time.Duration) time.Duration { return 100 * e.Promise(delta) }
		t.Run(e.Name, func(t *testing.T) {
			for _, n := range []int{5, 7} {
				killAfterKill(t, a, n, allowed(e, n))
			}
		})
	}
}

// allowed is how long a failover may take in the calm: until the death is noticed and
// proven; the nomination, at its worst; its timeouts are not on the way. Then the
// questions to the voters, their answers, and the news; and, of those that stand in the
// order of rank, the turn of one more.
func allowed(e catalog.Entry, nodes int) time.Duration {
	noticed, nomination, votes, turn := 3, 0, 5, 4
	if !e.OwnLease {
		nomination = e.Theory.WorstRun.Times(nodes)
	}
	return time.Duration(noticed+nomination+votes+turn) * DefaultDelta
}

// startedDeltas is how long, in Deltas, a node listens after its start before it stands.
const startedDeltas = 11

// killAfterKill kills the leader, and what leads then, while the node that was killed
// before starts, and demands each time that another leads by then.
func killAfterKill(t *testing.T, a Algorithm, nodes int, by time.Duration) {
	t.Helper()
	var trace strings.Builder
	var tap func(proto.Message, int)
	s := suite{t: t, algo: a, nodes: nodes}
	c := s.stage(trial{quiet: true}, &trace, &tap)
	c.network.weather = weather{MinDelay: c.delta / 2, MaxDelay: c.delta / 2} // in order, as links are
	s.settle(c)
	for kill := range 8 {
		dead := c.leader()
		lease := dead.clock.when(dead.life.belief.Until) - c.now
		c.kill(dead)
		if !c.runTo(c.now+by, func() bool { return c.census.agreed != never }) {
			t.Fatalf("%d nodes, kill %d: %d is not replaced within %v, its lease had %v left\n%s",
				nodes, kill+1, dead.id, by, lease, tail(trace.String()))
		}
		if lease < 2*by {
			t.Fatalf("a lease of %v shows nothing", lease)
		}
		c.restart(dead)
		c.runUntil(c.now + startedDeltas*c.delta)
	}
	if len(c.violations) > 0 {
		t.Errorf("%v", c.violations)
	}
}
