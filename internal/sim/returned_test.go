package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// "From the next renewal on as many voters may fail as before": of three voters one lost its
// disk and is back, then another dies, and the leader leads on.
func TestReturnedVoterKeepsTheLeader(t *testing.T) {
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			var trace strings.Builder
			var tap func(proto.Message, int)
			s := suite{t: t, algo: leased(t, e.Name), nodes: 3}
			c := s.stage(trial{quiet: true}, &trace, &tap)
			s.settle(c)
			leader := c.leader()
			others := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == leader })
			back, dies, led := others[0], others[1], leader.life.belief.Leadership()

			c.loseDisk(back)
			c.restart(back)
			if !c.runTo(c.now+3*c.Promise, back.saved) {
				t.Fatalf("%d does not vote again", back.id)
			}
			c.runUntil(c.now + c.Promise) // it is asked for its promise
			c.kill(dies)
			ended := func() bool { return !leader.leads() || leader.life.belief.Leadership() != led }
			if c.runTo(c.now+5*c.Promise, ended) {
				t.Errorf("%d leads term %d no more, %d and %d are well\n%s",
					leader.id, led.Term, leader.id, back.id, tail(trace.String()))
			}
			if len(c.violations) > 0 {
				t.Errorf("%v", c.violations)
			}
		})
	}
}
