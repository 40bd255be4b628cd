package lease_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/internal/steptest"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/raft"
	"github.com/ringleader-dev/ringleader/proto"
)

// list is what voters say of a list that they have.
func list(version uint64, committed bool, ids ...proto.NodeID) proto.VoterSet {
	return proto.VoterSet{Version: version, Hash: proto.ListVoters(ids).Hash(), Committed: committed}
}

// withVoters is voter 5 with the list 1-5 as its process starts with what is saved.
func withVoters(t *testing.T, saved algorithms.State) *steptest.Rig {
	r := steptest.New(t, 5, false, func(c algorithms.Config) algorithms.Machine {
		c.Voters, c.Promise = []proto.NodeID{1, 2, 3, 4, 5}, promise
		return raft.New(c)
	})
	r.Step(0, algorithms.Start{Saved: saved})
	r.Step(0, steptest.Alive(1, 2, 3, 4, 5))
	return r
}

// toldBy lets a voter of which nothing is saved ask, and be told by three of another list.
func toldBy(t *testing.T, has proto.VoterSet) *steptest.Rig {
	r := withVoters(t, algorithms.State{})
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	for _, id := range []proto.NodeID{1, 2, 3} {
		r.Step(0, r.From(id, 7, proto.Standing{Session: steptest.Session(5), Nonce: 1, Voters: has}))
	}
	if r.Last.Recovery != nil || r.Last.Save == nil {
		t.Fatalf("does not vote: %+v", r.Last)
	}
	return r
}

// requests is the receipt of a request for a vote, and whether it is given.
func requests(r *steptest.Rig, from proto.NodeID, term proto.Term, has proto.VoterSet) (given bool) {
	r.Step(0, r.From(from, term, proto.RequestVote{Session: steptest.Session(from), Nonce: 1, Voters: has}))
	return r.Last.Send[0].Body.Kind() == proto.KindVote
}

// "Start the new node with the new list and an empty data directory. It follows. It does not
// stand until a leader has confirmed the list", be it the first change or a later one. Once
// one has, it votes and stands as all.
func TestNewVoterOfALaterList(t *testing.T) {
	for _, had := range []proto.VoterSet{list(0, true, 1, 2, 3), list(1, true, 1, 2, 3, 4)} {
		r := toldBy(t, had)
		if r.Last.Ineligible == "" {
			t.Errorf("stands beside list %d", had.Version)
		}
		if requests(r, 1, 8, had) {
			t.Errorf("votes under list %d, which is not its own", had.Version)
		}
		if !requests(r, 1, 9, list(had.Version+1, false, 1, 2, 3, 4, 5)) {
			t.Errorf("does not vote under the list after %d: %v", had.Version, r.Last.Why)
		}
		if r.Last.Ineligible == "" {
			t.Error("stands, and no leader has confirmed its list")
		}
		r.Step(delta, r.From(1, 9, proto.Heartbeat{
			Leader: steptest.Peer(1), Nonce: 2, Remaining: promise / 2,
			Voters: list(had.Version+1, true, 1, 2, 3, 4, 5),
		}))
		if r.Last.Ineligible != "" {
			t.Errorf("does not stand: %s", r.Last.Ineligible)
		}
	}
}

// "A voter gives no new vote to a node whose list is of an earlier version": nor does one that
// lost its disk, was told of the later list, and is started once more with the earlier one.
func TestIsToldOfALaterListAndStartsAgain(t *testing.T) {
	first, later := list(0, true, 1, 2, 3, 4, 5), list(2, true, 1, 2, 3)
	saved := *toldBy(t, later).Last.Save
	r := withVoters(t, saved)
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	if requests(r, 4, 8, first) {
		t.Error("votes under the earlier list")
	}
	if r.Last.Ineligible == "" {
		t.Error("stands with the earlier list")
	}
	for _, own := range []proto.VoterList{"1-4", "1-5", "1-7"} { // whatever is the right one
		if s, err := lease.VotersFrom(saved.Voters, own); err != nil || s.List != own {
			t.Errorf("may not be started with %s: %v, %v", own, s, err)
		}
	}
}
