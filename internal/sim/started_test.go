package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/proto"
)

// refusals is a Machine that notes the last transfer that it refused.
type refusals struct {
	algorithms.Machine
	last *string
}

func (r refusals) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := r.Machine.Step(now, ev)
	if out.Transfer != nil {
		*r.last = out.Transfer.Refused
	}
	return out
}

// docs/GUARANTEES.md: "a voter that starts keeps the promises of its former life". A transfer that is refused only
// because of that says which voters still wait, and for how long.
func TestTransferSaysWhoHasJustStarted(t *testing.T) {
	var refused string
	w := newChanging(1, 3, func(c algorithms.Config) algorithms.Machine {
		return refusals{lease.New(c, highest.New), &refused}
	})
	w.until(3 * time.Second)
	if l := w.nodes[3].leader.ID; l != 3 {
		t.Fatalf("%d leads, want 3", l)
	}
	for _, id := range []proto.NodeID{1, 2} {
		w.crash(id)
		w.start(id, w.goal)
		w.until(2 * changeDelta)
	}
	w.until(changePromise / 4)
	w.step(3, algorithms.Transfer{To: 2})
	w.until(changePromise / 3)
	const want = "no majority of the voters would vote for it: 1 and 2 have just started, and vote for no other for "
	if !strings.HasPrefix(refused, want) || !strings.Contains(refused, "s more; ask again then") {
		t.Errorf("%q", refused)
	}
	w.until(2 * changePromise)
	w.step(3, algorithms.Transfer{To: 2})
	w.until(changePromise)
	if l := w.nodes[2].leader.ID; l != 2 {
		t.Errorf("%d leads, want 2: %s", l, refused)
	}
}

// docs/GUARANTEES.md, of `ringleader transfer`: "asked first, also whether a majority would vote for it". A leader that
// has just started is no such voter, though it leads by the votes of the others.
func TestTransferAsksALeaderThatHasJustStarted(t *testing.T) {
	var refused string
	w := newChanging(1, 3, func(c algorithms.Config) algorithms.Machine {
		return refusals{lease.New(c, highest.New), &refused}
	})
	w.until(3 * time.Second)
	for _, id := range []proto.NodeID{3, 1} { // 3 leads again by the votes of 1 and 2
		dead := w.nodes[id].incarnation
		w.nodes[id].machine = nil
		for other := range proto.NodeID(4) {
			w.step(other, algorithms.PeerProvenDead{ID: id, Incarnation: dead})
		}
		w.start(id, w.goal)
		w.until(4 * changeDelta)
	}
	w.until(changePromise / 4)
	if l := w.nodes[3].leader.ID; l != 3 {
		t.Fatalf("%d leads, want 3", l)
	}
	w.step(3, algorithms.Transfer{To: 2})
	w.until(8 * changeDelta)
	if l := w.nodes[3].leader.ID; l != 3 || !strings.Contains(refused, "1 and 3 have just started") {
		t.Errorf("%d leads, want 3: %q", l, refused)
	}
}
