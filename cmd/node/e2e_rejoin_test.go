package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/proto"
)

// losesDisk kills a node, and takes away what it kept.
func (e e2e) losesDisk(id proto.NodeID) {
	e.Helper()
	_, err := e.Kill(id)
	e.check(err)
	e.check(os.RemoveAll(e.Node(id).DataDir))
}

// "Then wait the largest promise, then ask, take the highest term, no vote in it, persist,
// vote": a voter that lost its disk comes back by itself, and its vote counts.
func TestLostDiskVotesAgain(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "raft"), func(t *testing.T, entry catalog.Entry) {
		e := newE2E(t, entry.Name, 3, append([]string{"--voters", "1-3", "--preempt=false"}, calm...)...)
		e.check(e.StartAll())
		first := e.agreed()
		living := without(first.Leader, 1, 2, 3)
		lost := living[0]
		e.losesDisk(lost)
		e.check(e.Start(lost))
		e.logs(lost, "nothing is saved of this voter -> vote for nobody")
		e.logs(lost, "-> vote again, above that")
		e.leads(first.Leader)
		_, err := e.Kill(first.Leader)
		e.check(err)
		if next := e.agreed(living...); next.Term <= first.Term {
			t.Errorf("term %d after %d", next.Term, first.Term)
		}
		if vote := e.saved(lost).Vote; vote.ID == 0 || vote.Term <= first.Term {
			t.Errorf("saved the vote %+v, want one above term %d", vote, first.Term)
		}
	})
}

// "It does not vote while too few have the list that it was started with, or the one before:
// status and the log name those that have other voters." Started with those of the cluster, it
// comes back.
func TestLostDiskWithOtherVoters(t *testing.T) {
	e := newE2E(t, "raft", 3, calm...)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id, "--voters", "1-3"))
	}
	e.agreed()
	e.losesDisk(2)
	e.check(e.Start(2, "--voters", "1-4"))
	e.status(2, func(s httpapi.Status) bool {
		return s.Recovery == "nothing is saved of voter 2; what is told by voters 1 and 3 does not count, as other "+
			"voters were given there; voter 4 has not answered: all are to have the same voters: "+
			"those of the cluster or, if this node is to be added, its own"
	})
	_, err := e.Kill(2)
	e.check(err)
	e.check(e.Start(2, "--voters", "2,4-6")) // with whom the others exchange no votes
	e.status(2, func(s httpapi.Status) bool {
		return strings.Contains(s.Recovery, "; voters 4, 5 and 6 have not answered: start what is not there")
	})
	_, err = e.Kill(2)
	e.check(err)
	e.check(e.Start(2, "--voters", "2-3,5"))
	e.status(2, func(s httpapi.Status) bool {
		return strings.Contains(s.Recovery, "told by voter 3 does not count") &&
			!strings.Contains(s.Recovery, "first-term")
	})
	_, err = e.Kill(2)
	e.check(err)
	e.check(e.Start(2, "--voters", "1-3"))
	e.logs(2, "-> vote again, above that")
	e.agreed()
}

// A cluster of which not all voters are up cannot tell that it never voted. It says who has
// to answer; and an operator may vouch for it: "start what is not there, or, if this
// cluster never ran, set first-term to 1".
func TestFirstTermOfANewCluster(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3", "--failover-budget", "500ms")
	for _, id := range []proto.NodeID{1, 2} {
		e.check(e.Start(id))
	}
	e.status(1, func(s httpapi.Status) bool {
		return s.Recovery == "nothing is saved of voters 1 and 2; voter 3 has not answered: "+
			"start what is not there, or, if this cluster never ran, set first-term to 1"
	})
	e.logs(2, "this voter does not vote: nothing is saved of voters 1 and 2; voter 3 has not answered")
	for _, id := range []proto.NodeID{1, 2} {
		_, err := e.Kill(id)
		e.check(err)
		e.check(e.Start(id, "--first-term", "1"))
	}
	if b := e.agreed(1, 2); b.Leader == 0 {
		t.Error("nobody leads")
	}
	e.check(e.Start(3)) // which needs no such word: the others tell it
	e.agreed()
}

// docs/GUARANTEES.md: "status, why-not and the log name the voters that have to answer, and those that
// run with other settings".
func TestVotersOfOtherSettings(t *testing.T) {
	t.Parallel()
	const again = ": start the one that is wrong again, with what the others have"
	for name, c := range map[string]struct {
		flags          []string
		recovery, logs string
	}{
		"lease": {
			[]string{"--voters", "1-3", "--lease", "4s"},
			"voter 3 exchanges no votes with this node, and differs in the settings lease, failover-budget " +
				"or profile" + again,
			"start the one that is wrong again, with what the others have: the settings lease, " +
				"failover-budget or profile",
		},
		"failover-budget": {
			[]string{"--voters", "1-3", "--failover-budget", "3s"},
			"voter 3 exchanges no votes with this node, and differs in the settings lease, failover-budget " +
				"or profile" + again,
			"start the one that is wrong again, with what the others have: the settings lease, " +
				"failover-budget or profile",
		},
		"voters": {
			nil, "voter 3 exchanges no votes with this node, and differs in the setting voters" + again,
			"it has no voters, and this node has voters 1-3" + again + " of the setting voters",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newE2E(t, "bully", 3)
			e.check(e.Start(1, "--voters", "1-3"))
			e.check(e.Start(2, "--voters", "1-3"))
			e.check(e.Start(3, c.flags...))
			e.status(1, func(s httpapi.Status) bool {
				return s.Recovery == "nothing is saved of voters 1 and 2; "+c.recovery
			})
			e.logs(1, c.logs)
		})
	}
}

// "A cluster that lost its voters' disks begins at term 1, below every token: a first term
// can be given." It is enough to tell one of them.
func TestFirstTermAfterAllDisksWereLost(t *testing.T) {
	t.Parallel()
	each(t, entriesOf("bully", "raft"), func(t *testing.T, entry catalog.Entry) {
		// With a lease this long none of the three gives up waiting for the others before they have started.
		e := newE2E(t, entry.Name, 3, "--voters", "1-3", "--lease", "30s")
		e.check(e.Start(1, "--first-term", "5000"))
		e.check(e.Start(2))
		e.check(e.Start(3))
		first := e.agreed()
		if first.Term < 5000 {
			t.Errorf("term %d, want 5000 or above", first.Term)
		}
		// "It does nothing on a voter that has a vote."
		_, err := e.Kill(1)
		e.check(err)
		e.check(e.Start(1, "--first-term", "9000"))
		e.logs(1, "what this voter voted is saved -> do nothing with it")
		if now := e.agreed(); now.Term >= 9000 {
			t.Errorf("term %d", now.Term)
		}
	})
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

// A jump of more than 2^20 terms is refused as absurd; but a voter that lost its disk comes
// back into a cluster that is further than that, and one that does not vote follows there:
// it asks the voters.
func TestRejoinBeyondAbsurdTerms(t *testing.T) {
	const far = proto.Term(1) << 21
	e := newE2E(t, "ring", 4, "--voters", "1-3")
	for _, id := range []proto.NodeID{2, 3} {
		f, _, err := statefile.Open(e.Node(id).DataDir, e.owner(id))
		e.check(err)
		e.check(f.Save(algorithms.State{
			Term: far, Reserved: far, Vote: algorithms.Vote{Term: far, ID: 3, Incarnation: proto.Incarnation{1}},
		}))
		e.check(f.Close())
	}
	e.check(e.Start(1))
	e.check(e.Start(2))
	e.check(e.Start(3))
	if b := e.agreed(1, 2, 3); b.Term <= far {
		t.Errorf("term %d, want above %d", b.Term, far)
	}
	e.check(e.Start(4))
	e.logs(4, "is absurdly far above 0 -> drop HEARTBEAT, ask the voters")
	e.agreed()
	e.logs(1, "-> vote again, above that")
	b := e.agreed()
	_, err := e.Kill(b.Leader)
	e.check(err)
	if next := e.agreed(without(b.Leader, 1, 2, 3, 4)...); next.Term <= b.Term {
		t.Errorf("term %d after %d", next.Term, b.Term)
	}
}
