package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/proto"
)

// docs/VOTERS.md: "The change is finished when `status` says ... confirmed by a leader on every node." It is once all
// is well, after processes that were stopped, transfers, and nodes that do not vote, beside all other faults: one
// leads, all follow it, and each voter knows that its list is committed.
func TestChangesOfVotersAreFinished(t *testing.T) {
	t.Parallel()
	runs := long.Runs(t, 30, 300)
	for name, create := range changed {
		t.Run(name, func(t *testing.T) {
			for n := range uint64(runs) {
				seed := *changesFrom + n
				w := newChanging(seed, 2+int(seed%4), create)
				w.disturb()
				w.settle()
				if w.wrong != "" {
					t.Fatalf("seed %d: %s", seed, w.wrong)
				}
			}
		})
	}
}

func TestLongChangesOfVotersAreFinished(t *testing.T) { TestChangesOfVotersAreFinished(t) }

// disturb changes the voters as the procedure says, among faults.
func (w *changing) disturb() {
	w.until(3 * time.Second)
	for range 80 {
		id := proto.NodeID(1 + w.IntN(changeNodes))
		switch w.IntN(10) {
		case 0:
			w.loss = []float64{0, 0, 0.1, 0.3}[w.IntN(4)]
		case 1:
			clear(w.side[:])
			for other := range w.side {
				w.side[other] = w.IntN(2) * w.IntN(2)
			}
			w.look()
		case 2:
			if w.crash(id); w.IntN(3) == 0 && !w.stuck() {
				w.loseDisk(id)
			}
		case 3, 4:
			w.nodes[id].stopped = w.nodes[id].machine != nil
			w.after(time.Duration(w.Int64N(int64(3*changePromise))), func() { w.resume(id) })
		case 5:
			w.observe(id)
		case 6:
			if leader := w.leading(); leader != 0 {
				w.step(leader, algorithms.Transfer{To: id * proto.NodeID(w.IntN(2)), Leaves: w.IntN(3) == 0})
			}
		default:
			w.operate(true)
		}
		w.until(time.Duration(w.Int64N(int64(2 * time.Second))))
	}
}

// resume lets a process that was stopped go on: it learns what it missed.
func (w *changing) resume(id proto.NodeID) {
	n := &w.nodes[id]
	missed := append(n.missed, algorithms.Timeout{})
	n.stopped, n.missed = false, nil
	for _, ev := range missed {
		w.step(id, ev)
	}
}

// observe starts a node that is no voter, with the last list or with the one before.
func (w *changing) observe(id proto.NodeID) {
	if slices.Contains(w.goal, id) || slices.Contains(w.before, id) {
		return
	}
	list := w.goal
	if w.before != nil && w.IntN(3) == 0 {
		list = w.before
	}
	w.crash(id)
	w.start(id, list)
}

// leading returns a node that leads, zero if none does.
func (w *changing) leading() proto.NodeID {
	for id, n := range w.nodes {
		if n.machine != nil && n.leader.ID == proto.NodeID(id) {
			return n.leader.ID
		}
	}
	return 0
}

// settle ends all faults, and lets the change under way be finished: "a leader under the old list stays until it
// leaves", so one that is no voter any more hands over, and so does one in whose term a voter is missing.
func (w *changing) settle() {
	w.loss = 0
	clear(w.side[:])
	for id := range proto.NodeID(len(w.nodes)) {
		w.resume(id)
	}
	for n := 0; n < 12 && (n == 0 || !w.done()); n++ {
		for id := range proto.NodeID(len(w.nodes)) {
			if slices.Contains(w.goal, id) || slices.Contains(w.before, id) {
				w.restart(id, w.goal)
			}
		}
		w.look()
		w.until(5 * time.Second)
		if id := w.leading(); id != 0 && (!slices.Contains(w.goal, id) || n > 4) {
			w.step(id, algorithms.Transfer{})
		}
		w.until(3 * time.Second)
	}
	w.look()
	w.until(lease.Agreement(changePromise, changeDelta, changeNodes))
	w.settled()
}

func (w *changing) settled() {
	leader, wrong := w.leading(), ""
	for id, n := range w.nodes {
		if n.machine != nil && (leader == 0 || w.linked(leader, proto.NodeID(id)) && n.leader.ID != leader) {
			wrong += fmt.Sprintf("\nnode %d with voters %v follows %d, and %d leads", id, n.voters, n.leader.ID, leader)
		}
	}
	for _, id := range w.goal {
		if has := w.nodes[id].disk.Voters; has.List != proto.ListVoters(w.goal) || !has.Committed {
			wrong += fmt.Sprintf("\nvoter %d has %+v", id, has)
		}
	}
	if wrong != "" && w.wrong == "" {
		w.wrong = fmt.Sprintf("voters %v, before %v:%s", w.goal, w.before, wrong)
	}
}
