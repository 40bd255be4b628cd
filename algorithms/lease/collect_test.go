package lease_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// blank is voter 1 of three, of which nothing is saved.
func blank(t *testing.T, first proto.Term) steptest.Voter {
	r := steptest.NewVoter(t, 1, func(c *algorithms.Config) { c.FirstTerm = first }, unnominated)
	r.Step(0, algorithms.Start{})
	r.Step(0, steptest.Alive(1, 2, 3))
	return r
}

// says is the receipt of another's word that it never voted.
func says(r steptest.Voter, from proto.NodeID, s proto.Incarnation, heard proto.Roll) algorithms.Event {
	return r.From(from, 0, proto.Unvoted{Incarnation: s, Heard: heard})
}

func votes(r steptest.Voter) bool { return r.Last.Recovery == nil }

// "A voter that lists an incarnation for each voter, and has heard the very same list from each
// of those incarnations, votes."
func TestAllSayTwiceThatTheyNeverVoted(t *testing.T) {
	one, two, three := steptest.Incarnation(1), steptest.Incarnation(2), steptest.Incarnation(3)
	r := blank(t, 0)
	all := r.Lives(1, 2, 3)
	for i, step := range []struct {
		from  proto.NodeID
		s     proto.Incarnation
		heard proto.Roll
	}{
		{2, two, r.Lives(2)},    // it has not heard of this voter,
		{3, three, r.Lives(3)},  // nor has that one
		{2, two, r.Lives(1, 2)}, // now it has
		{3, three, all},         // that one of all; but 2 did not say so
		{2, proto.Incarnation{77}, all},
		{3, three, all},
		{2, two, proto.Roll("").Add(steptest.Peer(1)).Add(steptest.Peer(2)).Add(proto.Peer{ID: 3, Incarnation: one})},
	} {
		if r.Step(0, says(r, step.from, step.s, step.heard)); votes(r) {
			t.Fatalf("votes after %d words", i+1)
		}
	}
	r.Step(0, says(r, 2, two, all))
	if !votes(r) || r.Last.Save == nil || *r.Last.Save != (algorithms.State{Promise: promise}) {
		t.Fatalf("%+v", r.Last)
	}
	known := proto.Unvoted{Incarnation: one, Heard: all, Known: true}
	r.Sends(r.Last, r.All(0, known)...)

	// "Whoever knows the list may tell a process of it", also once it has voted; another
	// process of that node it tells nothing.
	r.Step(0, r.From(2, 1, proto.RequestVote{Incarnation: two, Nonce: 1}))
	r.Step(0, r.From(3, 0, proto.Unvoted{Incarnation: three, Heard: r.Lives(3), Asks: true}))
	r.Sends(r.Last, r.Msg(3, 0, known))
	r.Step(0, r.From(3, 0, proto.Unvoted{Incarnation: proto.Incarnation{78}, Asks: true}))
	r.Sends(r.Last)
}

// A voter is let vote by one that knows the list only if its own process is on it, and
// nobody else than the voters that it knows.
func TestIsTold(t *testing.T) {
	r := blank(t, 0)
	former := proto.Roll("").Add(proto.Peer{ID: 1, Incarnation: proto.Incarnation{9}}).
		Add(steptest.Peer(2)).Add(steptest.Peer(3))
	for name, heard := range map[string]proto.Roll{
		"its former life": former, "other voters": r.Lives(1, 2, 4), "fewer": r.Lives(1, 2),
	} {
		r.Step(0, r.From(2, 0, proto.Unvoted{Incarnation: steptest.Incarnation(2), Heard: heard, Known: true}))
		if votes(r) {
			t.Fatalf("votes by a list of %s", name)
		}
	}
	if r.Step(0, r.NeverVoted()); !votes(r) {
		t.Error("does not vote")
	}
}

// "It votes in this term and above", at once where nobody ever voted, and by the highest
// first term that any voter was given.
func TestFirstTermOfAll(t *testing.T) {
	for own, theirs := range map[proto.Term]proto.Term{5000: 0, 0: 5000, 7: 5000} {
		r := blank(t, own)
		for _, id := range []proto.NodeID{2, 3} {
			r.Step(0, r.From(id, 0, proto.Unvoted{
				Incarnation: steptest.Incarnation(id), Heard: r.Lives(1, 2, 3), First: theirs,
			}))
		}
		if s := r.Last.Save; s == nil || s.Vote != (algorithms.Vote{Term: 4999}) {
			t.Errorf("%d and %d: saved %+v", own, theirs, s)
		}
	}
}

// asked is a blank voter with a first term that has waited, and asked the others.
func asked(t *testing.T, first proto.Term) steptest.Voter {
	r := blank(t, first)
	if r.Step(lease.BootWait(promise)-1, algorithms.Timeout{}); votes(r) {
		t.Fatal("votes while a promise may run")
	}
	if r.Step(1, algorithms.Timeout{}); votes(r) {
		t.Fatal("votes, and nobody answered")
	}
	return r
}

// answers is the receipt of what another says that it voted; nothing is saved of it either
// where lost is set.
func answers(r steptest.Voter, from proto.NodeID, term proto.Term, lost bool) algorithms.Event {
	return r.From(from, term, proto.VoterState{Incarnation: steptest.Incarnation(1), Nonce: 1, Lost: lost})
}

// "The voter then needs not be told by others what it may have voted in: [it waits] as long
// as any promise may run, and a majority of the voters, itself among them, has answered, be
// it that they know nothing either."
func TestFirstTermIsVouchedFor(t *testing.T) {
	r := asked(t, 8)
	if r.Step(time.Minute, algorithms.Timeout{}); votes(r) {
		t.Fatal("votes on its own: nobody answered")
	}
	r.Step(0, answers(r, 2, 0, true))
	r.Step(time.Minute, algorithms.Timeout{})
	if s := r.Last.Save; !votes(r) || s == nil || s.Vote != (algorithms.Vote{Term: 7}) ||
		!slices.Contains(steptest.Texts(r.Last.Why), "lease.vouched(8, 7)") {
		t.Errorf("%+v", r.Last)
	}
}

// "A voter that tells of a vote in it, or above, proves the word wrong: then it does
// nothing."
func TestFirstTermIsGainsaid(t *testing.T) {
	r := asked(t, 8)
	r.Step(0, answers(r, 2, 8, false))
	if why := steptest.Texts(r.Last.Why); !r.Last.Warn || !slices.Equal(why, []string{"lease.disbelieve(2, 8, 8)"}) {
		t.Errorf("%+v", r.Last)
	}
	if r.Step(time.Minute, algorithms.Timeout{}); votes(r) {
		t.Fatal("votes all the same")
	}
	r.Step(0, answers(r, 3, 3, false)) // two have told: that is the usual way
	if s := r.Last.Save; !votes(r) || s == nil || s.Vote != (algorithms.Vote{Term: 8}) {
		t.Errorf("%+v", r.Last)
	}
}

// "Nor does it where a vote is saved."
func TestFirstTermOfOneThatVoted(t *testing.T) {
	r := steptest.NewVoter(t, 1, func(c *algorithms.Config) { c.FirstTerm = 8 }, unnominated)
	r.Gives(0, algorithms.Start{Saved: algorithms.State{
		Vote: algorithms.Vote{Term: 3, ID: 2, Incarnation: steptest.Incarnation(2)}, Promise: promise,
	}}, "lease.first-term(8)")
}

// With nobody else to ask, one voter votes at once.
func TestOnlyVoter(t *testing.T) {
	r := steptest.NewVoter(t, 1, func(c *algorithms.Config) {
		c.Voters, c.FirstTerm = []proto.NodeID{1}, 9
	}, unnominated)
	r.Step(0, algorithms.Start{})
	if s := r.Last.Save; !votes(r) || s == nil || s.Vote != (algorithms.Vote{Term: 8}) {
		t.Errorf("%+v", r.Last)
	}
}

// "A term is believed up to the highest that a majority of [the voters] tells of, or a
// higher one, and the usual jump above": a liar leads nobody astray, and strands nobody.
func TestJumps(t *testing.T) {
	const far = 3 * proto.MaxTermJump
	r := steptest.NewVoter(t, 4, nil, unnominated) // it does not vote, and knows nothing
	r.Step(0, algorithms.Start{})
	leads := func(from proto.NodeID, term proto.Term) algorithms.Event {
		return r.From(from, term, proto.Heartbeat{Leader: steptest.Peer(from), Nonce: 1, Remaining: promise / 2})
	}
	tells := func(from proto.NodeID, term proto.Term) algorithms.Event {
		return r.From(from, term, proto.VoterState{Incarnation: steptest.Incarnation(4)})
	}
	ask := r.All(0, proto.Recover{Incarnation: steptest.Incarnation(4)})
	r.Step(0, leads(3, far))
	r.Sends(r.Last, ask...)
	r.Step(delta-1, leads(3, far))
	r.Sends(r.Last) // "at most one such question in a Delta"
	r.Step(0, tells(1, 2*far))
	r.Step(0, tells(1, 2*far))
	if r.Step(0, leads(1, 2*far)); r.Last.Leader.ID != 0 {
		t.Fatal("believes one liar")
	}
	r.Step(0, tells(3, far))
	if r.Step(0, leads(3, far)); r.Last.Leader.ID != 3 {
		t.Errorf("does not follow: %v", steptest.Texts(r.Last.Why))
	}
	if r.Step(delta, leads(1, 2*far)); r.Last.Leader.ID != 3 {
		t.Error("follows the liar")
	}
}

// Voters answer any node, but those that may have lost what they voted.
func TestAnswersWhichTerm(t *testing.T) {
	question := proto.Recover{Incarnation: proto.Incarnation{44}}
	r := blank(t, 0)
	r.Step(0, r.From(4, 0, question))
	r.Sends(r.Last)
	r.Step(0, r.NeverVoted())
	r.Step(0, r.From(2, 6, proto.RequestVote{Incarnation: steptest.Incarnation(2), Nonce: 1}))
	r.Step(0, r.From(4, 0, question))
	r.Sends(r.Last, r.Msg(4, 6, proto.VoterState{Incarnation: proto.Incarnation{44}, Round: 6}))
}

// "The transfer to a successor that is dead, behind or not fit is refused, and nothing
// changes": a voter that votes for nobody yet could not lead, whatever the others answer.
func TestIsOfferedToLeadBeforeItVotes(t *testing.T) {
	r := blank(t, 0)
	r.Step(0, r.From(3, 2, proto.Heartbeat{
		Leader: steptest.Peer(3), Nonce: 1, Remaining: promise / 2,
	}))
	if r.Last.Leader.ID != 3 {
		t.Fatalf("does not follow: %v", steptest.Texts(r.Last.Why))
	}
	r.Step(0, r.From(3, 2, proto.Offer{Incarnation: steptest.Incarnation(3), Nonce: 5, To: steptest.Incarnation(1)}))
	r.Sends(r.Last, r.Msg(3, 2, proto.Reply{
		Incarnation: steptest.Incarnation(3), Nonce: 5, No: proto.DeclineVoteless,
	}))
}
