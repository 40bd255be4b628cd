package main

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/proto"
)

// keeps writes the disk of a voter that voted in term 1, so long ago that no promise is
// left of it.
func (e e2e) keeps(ids ...proto.NodeID) {
	e.Helper()
	for _, id := range ids {
		f, _, err := statefile.Open(e.Node(id).DataDir, e.owner(id))
		e.check(err)
		e.check(f.Save(algorithms.State{
			Term: 1, Reserved: 1, Vote: algorithms.Vote{Term: 1, ID: 5, Incarnation: proto.Incarnation{1}},
		}))
		e.check(f.Close())
	}
}

// "A voter without a vote is a voter that may have lost one, whatever else its disk holds,
// first start or third, flag or no flag." Node 5 leads by the promises of 1 and 2, which
// run for ten minutes. 2 loses its disk, is started, dies, and is started again. 5 is
// paused; 3 and 4, which promised nothing, start. With the vote of 2 they would lead beside
// node 5, which wakes up with a valid lease.
func TestVoterWithoutAVoteVotesForNobody(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "chubby", "raft"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 5, "--voters", "1-5", "--lease", "10m")
		e.keeps(1, 2, 3, 4, 5)
		for _, id := range []proto.NodeID{1, 2, 5} {
			e.check(e.Start(id))
		}
		first := e.agreed(1, 2, 5)
		if first.Leader != 5 { // bully would nominate 5, whose promise binds it
			e.handsOver(first.Leader, httpapi.Order{To: 5})
			first = e.leads(5, 1, 2, 5)
		}
		lost := without(first.Leader, 1, 2, 5)[0]
		e.losesDisk(lost)
		e.check(e.Start(lost))
		e.logs(lost, "nothing is saved of this voter")
		e.ExpectEnd(lost)
		_, err := e.Kill(lost)
		e.check(err)
		e.check(e.Start(lost))
		e.logs(lost, "nothing is saved of this voter")
		e.leads(first.Leader, lost)

		e.check(e.Pause(first.Leader))
		e.check(e.Start(3))
		e.check(e.Start(4))
		refused := `"why":["` + lost.String() + ` says no, just started`
		e.check(e.Wait(e.ctx, func() bool {
			return strings.Contains(e.Log(3)+e.Log(4), refused)
		}))
		for id, b := range e.Beliefs(3, 4, lost) {
			if b.Leader != 0 && b.Leader != first.Leader {
				t.Errorf("%v follows %+v, and node %v has a lease", id, b, first.Leader)
			}
		}
		if saved := e.saved(lost); saved.Vote != (algorithms.Vote{}) {
			t.Errorf("the voter without its disk voted: %+v", saved.Vote)
		}
		e.check(e.Resume(first.Leader))
		e.leads(first.Leader, first.Leader)
	})
}
