package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/proto"
)

// docs/VOTERS.md, rule 5: a node that does not vote, and is started while the new voter leads and no other voter with
// that list is up, "follows it all the same". Node 4 is the new voter, 3 the other one with its list, and 5 the node
// that does not vote.
func TestNonVoterFollowsTheNewVoter(t *testing.T) {
	w := newChanging(1, 3, func(c algorithms.Config) algorithms.Machine { return lease.New(c, highest.New) })
	w.until(3 * time.Second)
	old := w.goal
	w.have([]proto.NodeID{1, 2, 3, 4}, 3, 4)
	for range 20 {
		if w.nodes[4].leader.ID == 4 {
			break
		}
		w.until(time.Second)
	}
	w.crash(3)
	w.until(time.Second)
	if l := w.nodes[1].leader.ID; l != 4 || w.nodes[2].leader.ID != 4 {
		t.Fatalf("%d leads, want 4", l)
	}
	w.start(5, old)
	w.until(time.Second)
	if l := w.nodes[5].leader.ID; l != 4 {
		t.Errorf("the node that does not vote follows %d, want 4", l)
	}
}
