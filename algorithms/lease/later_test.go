package lease_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// listed is what voters say of a list that they have: the first, or one that differs by a
// voter from the one before; zero once it is committed.
func listed(version uint64, changed proto.NodeID, ids ...proto.NodeID) proto.VoterSet {
	return proto.VoterSet{
		Version: version, Hash: proto.ListVoters(ids).Hash(), Committed: changed == 0, Changed: changed,
	}
}

// recovering is node 3, with nothing saved and these voters, that has waited and asks.
func recovering(t *testing.T, voters ...proto.NodeID) *steptest.Rig {
	r := steptest.New(t, 3, false, func(c algorithms.Config) algorithms.Machine {
		c.Voters, c.Promise = voters, promise
		return unnominated(c)
	})
	r.Step(0, algorithms.Start{})
	r.Step(0, steptest.Alive(voters...))
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	return r
}

// tell is the receipt of what others with a list voted in. It reports whether node 3 votes.
func tell(r *steptest.Rig, has proto.VoterSet, from ...proto.NodeID) (votes bool) {
	for _, id := range from {
		r.Step(0, r.From(id, 7, proto.VoterState{Incarnation: steptest.Incarnation(3), Nonce: 1, Voters: has}))
	}
	return r.Last.Recovery == nil
}

// requests is the receipt of a request for a vote, and whether it is given.
func requests(r *steptest.Rig, from proto.NodeID, term proto.Term, has proto.VoterSet) (given bool) {
	r.Step(0, r.From(from, term, proto.RequestVote{Incarnation: steptest.Incarnation(from), Nonce: 1, Voters: has}))
	vote, ok := r.Last.Send[0].Body.(proto.Vote)
	return ok && vote.Granted()
}

// "Start the new node with the new list and an empty data directory. It follows, and votes and
// stands once others have that list", be it the first change or a later one.
func TestNewVoterOfALaterList(t *testing.T) {
	for version := range uint64(2) {
		before, own := listed(version, 0, 1, 2, 4), listed(version+1, 3, 1, 2, 3, 4)
		r := recovering(t, 1, 2, 3, 4)
		if tell(r, before, 1, 2, 4) {
			t.Errorf("votes, and nobody has its list")
		}
		if got := r.Last.Recovery.Others; len(got) != 3 {
			t.Errorf("says that %v have other voters", got)
		}
		if !tell(r, own, 1) {
			t.Errorf("does not vote: %+v", r.Last.Recovery)
		}
		if want := (algorithms.VoterState{List: "1-4", Version: version + 1, Changed: 3}); r.Last.Save.Voters != want {
			t.Errorf("saved %+v, want %+v", r.Last.Save.Voters, want)
		}
		if r.Last.Ineligible != "" {
			t.Errorf("does not stand: %s", r.Last.Ineligible)
		}
		if requests(r, 1, 8, before) {
			t.Error("votes under the list before")
		}
		if !requests(r, 1, 9, own) {
			t.Errorf("does not vote under its list: %v", steptest.Texts(r.Last.Why))
		}
	}
}

// "One of them is in every majority that it may have been part of": of the list before too,
// until a leader has confirmed the present one.
func TestVotersOfTheListBeforeTell(t *testing.T) {
	before, own := listed(0, 0, 1, 2, 3, 4, 5), listed(1, 5, 1, 2, 3, 4)
	r := recovering(t, 1, 2, 3, 4)
	if tell(r, own, 1, 2) {
		t.Error("votes, and 4 and 5 may know of a majority of 3 to 5")
	}
	r.Step(promise, algorithms.Timeout{})
	asked := false
	for _, m := range r.Last.Send {
		asked = asked || m.To == 5 && m.Body.Kind() == proto.KindRecover
	}
	if !asked {
		t.Errorf("does not ask 5, which is to go: %v", r.Last.Send)
	}
	if !tell(r, before, 5) {
		t.Errorf("does not vote: %+v", r.Last.Recovery)
	}
	r = recovering(t, 1, 2, 3, 4)
	if !tell(r, listed(1, 0, 1, 2, 3, 4), 1, 2) {
		t.Errorf("a leader has confirmed the list, does not vote: %+v", r.Last.Recovery)
	}
}

// "It does not vote while too few have the list that it was started with": what those say that
// have a later list, or another one of the same version, does not count, nor may an operator
// vouch for a term then.
func TestStartsWithAListThatIsNotTheCluster(t *testing.T) {
	for name, theirs := range map[string]proto.VoterSet{
		"later": listed(1, 0, 1, 2, 3), "later, not confirmed": listed(1, 4, 1, 2, 3), "another": listed(0, 0, 1, 2, 3),
	} {
		r := recovering(t, 1, 2, 3, 4)
		if tell(r, theirs, 1, 2, 4) {
			t.Errorf("%s: votes", name)
		}
		why := strings.Join(steptest.Texts(r.Last.Why), "")
		if r.Step(0, r.From(4, 0, proto.Unvoted{
			Incarnation: steptest.Incarnation(4), Heard: lives(1, 2, 3, 4), Known: true,
		})); r.Last.Recovery == nil {
			t.Errorf("%s: votes, as if nobody had before", name)
		}
		if !strings.HasPrefix(why, "lease.other-list(") {
			t.Errorf("%s: says %q", name, why)
		}
	}
	r := steptest.New(t, 3, false, func(c algorithms.Config) algorithms.Machine {
		c.Voters, c.Promise, c.FirstTerm = []proto.NodeID{1, 2, 3, 4}, promise, 50
		return unnominated(c)
	})
	r.Step(0, algorithms.Start{})
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	tell(r, listed(1, 0, 1, 2, 3), 1, 2)
	if r.Step(promise, algorithms.Timeout{}); r.Last.Recovery == nil {
		t.Error("votes on an operator's word under a list that is not the cluster's")
	}
}

// "Of two voters, one that loses its disk in the middle of a change": with an operator's word
// it votes, if the other has its list, and the new voter has nothing saved either.
func TestFirstTermInAChangeOfTwoVoters(t *testing.T) {
	r := steptest.New(t, 3, false, func(c algorithms.Config) algorithms.Machine {
		c.Voters, c.Promise, c.FirstTerm = []proto.NodeID{1, 2, 3}, promise, 50
		return unnominated(c)
	})
	r.Step(0, algorithms.Start{})
	r.Step(lease.BootWait(promise), algorithms.Timeout{})
	if tell(r, listed(1, 2, 1, 2, 3), 1) {
		t.Fatal("votes by the word of 1 alone")
	}
	r.Step(promise, algorithms.Timeout{})
	if r.Last.Recovery != nil || r.Last.Save == nil || r.Last.Save.Vote.Term != 49 {
		t.Errorf("does not vote: %+v", r.Last)
	}
}

// lives lists the first lives of nodes.
func lives(ids ...proto.NodeID) proto.Roll { return steptest.Voter{}.Lives(ids...) }

// "A version from the network is bounded before it is kept": one message uses no versions up, in memory or on
// the disk, and what is learned step by step is kept.
func TestVersionsOfListsAreBounded(t *testing.T) {
	r := recovering(t, 1, 2, 3, 4)
	const jump = 1 << 20
	if tell(r, listed(2, 0, 1, 2, 3, 4), 1); r.Last.Voters.Version != 2 {
		t.Fatalf("has version %d, want 2", r.Last.Voters.Version)
	}
	if tell(r, listed(2, 0, 1, 2, 3, 4), 2, 4); r.Last.Recovery != nil {
		t.Fatalf("does not vote: %+v", r.Last.Recovery)
	}
	for forged, why := range map[uint64]string{
		proto.MaxVoterVersion: "lease.list-absurd(1, 1099511627776, 2)",
		2 + jump + 1:          "lease.list-absurd(1, 1048579, 2)",
	} {
		r.Step(0, r.From(1, 8, heartbeat(1, listed(forged, 0, 1, 2, 3, 4))))
		if s := r.Last.Save; r.Last.Voters.Version != 2 || s != nil && s.Voters.Version != 2 {
			t.Errorf("%d makes it %d, and saves %+v", forged, r.Last.Voters.Version, s)
		}
		if told := steptest.Texts(r.Last.Why); !slices.Contains(told, why) {
			t.Errorf("gives %v, want %s", told, why)
		}
	}
	if r.Step(0, r.From(1, 8, heartbeat(1, listed(2+jump, 0, 1, 2, 3, 4)))); r.Last.Voters.Version != 2+jump {
		t.Errorf("the highest version that is believed makes it %d", r.Last.Voters.Version)
	}
}

// docs/VOTERS.md: "The leader tells so with its lease, and voters save that", also one that voted for another, or for
// itself, in a higher term in vain: it follows the leader, and renews no promise to it.
func TestLearnsFromWhomItFollowsThatItsListIsCommitted(t *testing.T) {
	own := listed(1, 4, 1, 2, 3, 4)
	r := newRig(t, 1, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1, 2, 3, 4} })
	saved := *voted(5, 1)
	saved.Voters = algorithms.VoterState{List: "1-4", Version: 1, Changed: 4}
	r.Step(0, algorithms.Start{Saved: saved})
	r.Step(0, steptest.Alive(1, 2, 3, 4))
	if r.Step(delta, r.From(3, 4, heartbeat(3, own))); r.Last.Leader.ID != 3 || r.Last.Voters.Committed {
		t.Fatalf("%+v", r.Last)
	}
	r.Step(delta, r.From(3, 4, heartbeat(3, listed(1, 0, 1, 2, 3, 4))))
	want := algorithms.VoterState{List: "1-4", Version: 1, Committed: true}
	if r.Last.Voters != want || r.Last.Save == nil || r.Last.Save.Voters != want {
		t.Errorf("has %+v, saves %+v; want %+v", r.Last.Voters, r.Last.Save, want)
	}
}
