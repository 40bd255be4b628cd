package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A claim waits the longer for its grants the more of this node's failed in a row, up to
// half a lease: where answers take longer than planned one wins all the same. A back-off in
// between changes nothing in that." So there is a leader, and it leads on, although no
// answer comes within the 8Δ that a first claim waits, or even the 32Δ of a third one,
// after which there is a back-off.
func TestSlowAnswersElect(t *testing.T) {
	for _, e := range catalog.All() {
		e := e.WithLease()
		a := entered(e)
		a.Promise = func(delta time.Duration) time.Duration { return 6 * e.Promise(delta) }
		t.Run(e.Name, func(t *testing.T) {
			for _, way := range []time.Duration{5, 9, 18} {
				electsSlowly(t, a, way*DefaultDelta)
			}
		})
	}
}

// electsSlowly lets a message take that long one way, in a cluster whose leader has died.
func electsSlowly(t *testing.T, a Algorithm, way time.Duration) {
	t.Helper()
	var trace strings.Builder
	var tap func(proto.Message, int)
	s := suite{t: t, algo: a, nodes: 5}
	c := s.stage(trial{quiet: true}, &trace, &tap)
	s.settle(c)
	c.network.weather = weather{MinDelay: way, MaxDelay: way + c.delta}
	c.kill(c.leader())
	c.runUntil(c.now + c.Promise) // what was under way, and the old lease
	if !c.runTo(c.now+20*c.Promise, func() bool { return c.leader() != nil }) {
		t.Fatalf("answers take %v: nobody leads\n%s", 2*way, tail(trace.String()))
	}
	leader := c.leader()
	if c.runTo(c.now+5*c.Promise, func() bool { return c.leader() != leader }) {
		t.Errorf("answers take %v: %d does not lead on\n%s", 2*way, leader.id, tail(trace.String()))
	}
	if len(c.violations) > 0 {
		t.Errorf("%v", c.violations)
	}
}
