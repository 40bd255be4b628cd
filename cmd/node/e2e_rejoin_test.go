package main

import (
	"os"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/trace"
)

// losesDisk kills a node, and takes away what it kept.
func (e e2e) losesDisk(id proto.NodeID) {
	e.Helper()
	_, err := e.Kill(id)
	e.check(err)
	e.check(os.RemoveAll(e.Node(id).DataDir))
}

// "Disk lost in a cluster that has run: refuse to start without an explicit
// --rejoin-voter": one that starts all the same is found out by those who met it,
// and ends. The leader that met it stays, however slow this machine is.
func TestLostDiskIsRefused(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3", "--failover-budget", "10s", "--preempt=false")
	e.check(e.StartAll())
	leader := e.agreed().Leader // whoever was the first: it stays
	living := without(leader, 1, 2, 3)
	lost := living[0]
	e.met(lost)
	e.losesDisk(lost)
	e.check(e.Start(lost))
	e.exits(lost, exitConfig)
	e.logs(lost, "this voter lost its disk")
	e.logs(lost, "start once with --rejoin-voter")
	e.leads(leader, leader, living[1])
}

// met waits until the leader has heard of a vote of the node.
func (e e2e) met(id proto.NodeID) {
	e.Helper()
	e.check(e.Wait(e.ctx, func() bool {
		_, heard := e.record(time.Time{}, func(r trace.Record) bool {
			return r.Role == trace.Leading && r.Msg == "GRANT" && r.From == uint64(id)
		})
		return heard
	}))
}

// "Then wait the largest promise, then ask, take the highest term, no vote in it,
// persist, vote": the voter comes back, and its vote counts. With the flag left on,
// it starts as any other.
func TestRejoinVoter(t *testing.T) {
	e := newE2E(t, "bully", 3, append([]string{"--voters", "1-3"}, calm...)...)
	e.check(e.StartAll())
	e.leads(3)
	e.losesDisk(1)
	e.check(e.Start(1, "--rejoin-voter"))
	e.logs(1, "vote for nobody for")
	e.logs(1, "-> vote again, above that")
	_, err := e.Kill(3)
	e.check(err)
	e.leads(2, 1, 2)
	_, err = e.Kill(1)
	e.check(err)
	e.check(e.Start(1, "--rejoin-voter"))
	e.leads(2, 1, 2)
	if saved := e.saved(1); saved.Vote.ID != 2 {
		t.Errorf("saved %+v, want the vote for node 2", saved)
	}
}

// saved is what a node keeps, once it is killed.
func (e e2e) saved(id proto.NodeID) algorithms.State {
	e.Helper()
	_, err := e.Kill(id)
	e.check(err)
	f, state, err := statefile.Open(e.Node(id).DataDir, e.owner(id))
	e.check(err)
	e.check(f.Close())
	return state
}

func (e e2e) owner(id proto.NodeID) statefile.Owner {
	return statefile.Owner{Cluster: "ringleader", ID: id}
}

// A jump of more than 2^20 terms is refused as absurd, but a voter that lost its
// disk comes back into a cluster that is further than that.
func TestRejoinBeyondAbsurdTerms(t *testing.T) {
	const far = proto.Term(1) << 21
	e := newE2E(t, "ring", 3, "--voters", "1-3")
	for _, id := range []proto.NodeID{2, 3} {
		f, _, err := statefile.Open(e.Node(id).DataDir, e.owner(id))
		e.check(err)
		e.check(f.Save(algorithms.State{
			Term: far, Reserved: far, Vote: algorithms.Vote{Term: far, ID: 3, Session: proto.Session{1}},
		}))
		e.check(f.Close())
	}
	e.check(e.Start(1, "--rejoin-voter"))
	e.check(e.Start(2))
	e.check(e.Start(3))
	if b := e.agreed(); b.Term <= far {
		t.Errorf("term %d, want above %d", b.Term, far)
	}
	e.logs(1, "-> vote again, above that")
	b := e.agreed()
	_, err := e.Kill(b.Leader)
	e.check(err)
	if next := e.agreed(without(b.Leader, 1, 2, 3)...); next.Term <= b.Term {
		t.Errorf("term %d after %d", next.Term, b.Term)
	}
}
