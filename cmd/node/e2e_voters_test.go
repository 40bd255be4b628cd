package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A node does not stand, nor hold, while a process of its cluster that it can see has a
// list that differs by more than one voter; the list that a voter voted under is on its
// disk, and a start with one that differs by more is refused, with what is safe to do."
func TestVotersChangedOnSomeNodes(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"bully", "raft"} {
		t.Run(algorithm, func(t *testing.T) {
			e := newE2E(t, algorithm, 5, calm...)
			for id := proto.NodeID(1); id <= 3; id++ {
				e.check(e.Start(id, "--voters", "1-3"))
			}
			e.agreed(1, 2, 3)
			e.confirmed(3)
			_, err := e.Kill(3)
			e.check(err)
			e.check(e.Start(3, "--voters", "1-5"))
			e.exits(3, exitConfig)
			e.logs(3, "it last had voters 1-3 and is given voters 1-5, which differ by more than one voter")
			e.logs(3, "start it with voters 1-3 again and change one voter at a time")

			e.check(os.RemoveAll(e.Node(3).DataDir)) // whoever does that may not be stopped by a disk
			for id := proto.NodeID(3); id <= 5; id++ {
				e.check(e.Start(id, "--voters", "1-5"))
			}
			for id := proto.NodeID(3); id <= 5; id++ {
				e.status(id, func(s httpapi.Status) bool {
					return len(s.Alive) >= 3 && strings.Contains(s.Ineligible, "has voters 1-3")
				})
			}
			if b := e.agreed(1, 2); b.Leader == 0 {
				t.Error("nobody leads of those whose list a leader had confirmed")
			}
			for id := proto.NodeID(3); id <= 5; id++ {
				if strings.Contains(lastLife(e.Log(id)), `"role":"leader"`) {
					t.Errorf("node %v leads beside nodes 1 and 2", id)
				}
			}
		})
	}
}

// lastLife is what the last process of a node logged.
func lastLife(log string) string {
	if i := strings.LastIndex(log, `"event":"start"`); i >= 0 {
		return log[i:]
	}
	return log
}

// confirmed waits until these nodes know that a leader has confirmed their voters.
func (e e2e) confirmed(ids ...proto.NodeID) {
	e.Helper()
	for _, id := range ids {
		e.status(id, func(s httpapi.Status) bool { return s.VotersConfirmed != nil && *s.VotersConfirmed })
	}
}

// docs/VOTERS.md: a node "keeps on its disk the list that it voted under. It ends with 4, and
// changes nothing, when it is started with" another than the next one: also if the flag is
// forgotten. Where it reached none of the others, it would lead beside them.
func TestForgottenVoters(t *testing.T) {
	e := newE2E(t, "bully", 3, calm...)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id, "--voters", "1-3"))
	}
	e.agreed()
	e.confirmed(1, 2, 3)
	_, err := e.Kill(3)
	e.check(err)
	e.check(e.Start(3))
	e.exits(3, exitConfig)
	e.logs(3, "it last had voters 1-3 and is given no voters")
	e.logs(3, "start it with voters 1-3 again or, if it is to leave that cluster for good, "+
		"with an empty data directory")
	e.agreed(1, 2)
	e.check(e.Start(3, "--voters", "1-3"))
	e.agreed()
}

// "A node without --voters does not lead beside voters."
func TestNoVotersBesideVoters(t *testing.T) {
	e := newE2E(t, "bully", 4)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id, "--voters", "1-3"))
	}
	e.leads(3, 1, 2, 3)
	e.check(e.Start(4))
	e.logs(4, "this node no voters: two majorities might lead")
	e.status(4, func(s httpapi.Status) bool { return strings.Contains(s.Ineligible, "has voters 1-3") })
	e.leads(3, 1, 2, 3)
	if strings.Contains(e.Log(4), `"role":"leader"`) {
		t.Error("node 4 leads beside voters")
	}
}

// "One voter at a time may be changed by a rolling restart, documented with its commands
// and tested under kills, with somebody leading all the while." The commands are those of
// docs/VOTERS.md.
func TestVotersAreChangedOneByOne(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"bully", "raft", "chubby"} {
		t.Run(algorithm, func(t *testing.T) {
			e := newE2E(t, algorithm, 4)
			for id := proto.NodeID(1); id <= 3; id++ {
				e.check(e.Start(id, "--voters", "1-3"))
			}
			e.agreed(1, 2, 3)
			e.confirmed(1, 2, 3)

			e.check(e.Start(4, "--voters", "1-4")) // add one,
			e.agreed()
			e.restart("1-4", 3, 1, 2)
			e.confirmed(1, 2, 3, 4)
			if b := e.agreed(); b.Leader == 0 {
				t.Fatal("nobody leads")
			}

			e.restart("1,3-4", 4, 3, 1) // and remove one
			e.retires(2)
			e.confirmed(1, 3, 4)
			leader := e.agreed(1, 3, 4).Leader
			_, err := e.Kill(leader)
			e.check(err)
			if b := e.agreed(without(leader, 1, 3, 4)...); b.Leader == 0 {
				t.Error("two of three voters elect nobody")
			}
		})
	}
}

// restart kills one node after the other, and starts each with the voters.
func (e e2e) restart(voters string, ids ...proto.NodeID) {
	e.Helper()
	for _, id := range ids {
		_, err := e.Kill(id)
		e.check(err)
		if e.agreed(e.others(id)...).Leader == 0 {
			e.Fatalf("nobody leads while node %v is restarted with voters %s", id, voters)
		}
		e.check(e.Start(id, "--voters", voters))
		if e.agreed().Leader == 0 {
			e.Fatalf("nobody leads after node %v was restarted with voters %s", id, voters)
		}
	}
}

// others are all nodes but one.
func (e e2e) others(but proto.NodeID) (ids []proto.NodeID) {
	for _, n := range e.Nodes() {
		if n.ID != but {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// retires tells a node to stop for good.
func (e e2e) retires(id proto.NodeID) {
	e.Helper()
	e.check(e.Terminate(id))
	e.exits(id, exitOK)
}

// "Somebody leads all the while, but for the moments of a failover": nor does a voter that
// lost its disk, is started with a wrong list and votes for nobody, end that.
func TestWrongListOfAVoterThatDoesNotVote(t *testing.T) {
	e := newE2E(t, "bully", 4)
	for id := proto.NodeID(1); id <= 4; id++ {
		e.check(e.Start(id, "--voters", "1-4"))
	}
	e.agreed()
	e.confirmed(1, 2, 3, 4)
	e.restart("1,3-4", 4, 1)
	_, err := e.Kill(3)
	e.check(err)
	e.check(os.RemoveAll(e.Node(3).DataDir))
	e.check(e.Start(3, "--voters", "1-5"))
	e.status(3, func(s httpapi.Status) bool { return len(s.Alive) == 4 && s.Ineligible != "" })
	for _, id := range []proto.NodeID{1, 4} {
		e.status(id, func(s httpapi.Status) bool { // red: "has voters 1-5 ...: two majorities might lead"
			return len(s.Alive) == 4 && s.Leader != 0 && s.Ineligible == ""
		})
	}
}

// docs/VOTERS.md: of two confirmed lists "the one that has fewer voters" gives way. So a node that was once started as
// the only voter of its own cluster, and then joins the others, does not keep them from a leader.
func TestItsOwnOnlyVoter(t *testing.T) {
	e := newE2E(t, "bully", 4)
	e.check(e.Start(4, "--voters", "4"))
	e.leads(4, 4)
	e.confirmed(4)
	_, err := e.Kill(4)
	e.check(err)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id, "--voters", "1-3"))
	}
	e.agreed(1, 2, 3)
	e.confirmed(1, 2, 3)
	e.check(e.Start(4, "--voters", "4"))
	e.status(4, func(s httpapi.Status) bool { return strings.Contains(s.Ineligible, "has voters 1-3") })
	for id := proto.NodeID(1); id <= 3; id++ {
		e.status(id, func(s httpapi.Status) bool { return len(s.Alive) == 4 && s.Leader == 3 && s.Ineligible == "" })
	}
}
