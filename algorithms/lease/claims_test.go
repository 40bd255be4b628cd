package lease_test

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// follower3 is voter 1, which follows the leader 3 of term 1 and has promised it the term.
func follower3(t *testing.T) *rig {
	r := granted(t, nil)
	r.Step(delta, r.renew(3, 1, 8))
	return r
}

// observer3 is node 9, no voter, which follows the leader 3 of term 1.
func observer3(t *testing.T) *rig {
	r := newRig(t, 9, nil)
	r.Start(0, 1, 2, 3, 9)
	r.Step(delta, r.renew(3, 1, 8))
	return r
}

// "A node that is none of the voters leads only by a list that a voter is known to have": its word alone deposes
// nobody, gets no vote, and nobody follows it, whatever list it says that it has.
func TestNonVoterClaimsToLead(t *testing.T) {
	for name, list := range map[string]proto.VoterSet{
		"no list of this cluster":             {Hash: 1, Committed: true},
		"a list without a leader so far":      {Hash: 1},
		"a later list, confirmed":             listed(1, 0, 1, 2, 3, 4),
		"a later list with it":                listed(1, 4, 1, 2, 3, 4),
		"a much later list":                   listed(1<<20, 0, 1, 2, 3, 4),
		"the present list, of a later number": listed(7, 0, 1, 2, 3),
	} {
		for _, r := range []*rig{holder3(t), follower3(t), observer3(t)} {
			r.Step(0, r.From(4, 9, heartbeat(4, list)))
			if l := r.Last.Leader; l.ID != 3 || l.Term != 1 || r.Last.Save != nil {
				t.Errorf("%s: node %d follows %d in term %d: %v", name, r.Self, l.ID, l.Term, r.Last.Why)
			}
		}
		r := voter1(t, nil) // bound to nobody
		for _, body := range []proto.Body{
			heartbeat(4, list), proto.RequestVote{Incarnation: steptest.Incarnation(4), Nonce: 1, Voters: list},
		} {
			if r.Step(0, r.From(4, 9, body)); r.Last.Save != nil || r.Last.Leader.ID != 0 {
				t.Errorf("%s: %v gets %+v", name, body, r.Last.Save)
			}
		}
	}
}

// "It asks the voters, and once one has told it of that list": then the node may lead, if the list has it besides the
// voters. A word of the node itself does not count, nor does that of another node that says that it has that list.
func TestVoterTellsOfTheListOfANewVoter(t *testing.T) {
	for _, list := range []proto.VoterSet{listed(1, 4, 1, 2, 3, 4), listed(1, 0, 1, 2, 3, 4)} {
		r := voter1(t, nil)
		state := proto.VoterState{Incarnation: steptest.Incarnation(1), Voters: list}
		r.Step(0, r.From(4, 0, state))
		r.Step(delta, r.From(4, 2, heartbeat(4, list)))
		asked := false
		for _, m := range r.Last.Send {
			asked = asked || m.Body.Kind() == proto.KindRecover
		}
		if !asked || r.Last.Save != nil {
			t.Errorf("%+v: asks %v, saves %+v", list, asked, r.Last.Save)
		}
		r.Step(0, r.From(2, 0, state))
		if r.Step(0, r.From(5, 2, heartbeat(5, list))); r.Last.Save != nil || r.Last.Leader.ID != 0 {
			t.Errorf("5 leads by a list that differs by 4: %+v", r.Last)
		}
		r.Step(0, r.From(4, 2, heartbeat(4, list)))
		if r.Last.Leader.ID != 4 || r.Last.Save == nil || r.Last.Save.Vote.ID != 4 {
			t.Errorf("%+v: does not follow 4, nor promise: %+v", list, r.Last)
		}
	}
}

// Rule 5 of docs/VOTERS.md keeps out "who is not to vote": a voter that was removed leads by its list until a leader
// has confirmed the next one, and never again, whatever the others once said.
func TestRemovedVoterLeadsNoMore(t *testing.T) {
	r := newRig(t, 9, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1, 3, 4} })
	r.Start(0, 1, 2, 3, 4, 9)
	first := listed(0, 0, 1, 2, 3, 4)
	r.Step(0, r.From(3, 1, proto.VoterState{Incarnation: steptest.Incarnation(9), Voters: first}))
	if r.Step(delta, r.From(2, 1, heartbeat(2, first))); r.Last.Leader.ID != 2 {
		t.Errorf("does not follow 2: %v", steptest.Texts(r.Last.Why))
	}
	next := listed(1, 0, 1, 3, 4)
	if r.Step(delta, r.From(4, 2, heartbeat(4, next))); r.Last.Leader.ID != 4 {
		t.Errorf("does not follow 4: %v", steptest.Texts(r.Last.Why))
	}
	if r.Step(delta, r.From(2, 3, heartbeat(2, first))); r.Last.Leader.ID != 4 {
		t.Errorf("follows %d: %v", r.Last.Leader.ID, steptest.Texts(r.Last.Why))
	}
}

// "A voter that loses its disk ... is told by as many other voters": what a node that is no voter says counts for
// nothing. Else it could say that somebody voted in the highest of all terms, or made a promise of a year.
func TestNonVoterTellsAVoterThatLostItsDisk(t *testing.T) {
	for name, lie := range map[string]proto.VoterState{
		"a term":    {},
		"a promise": {Promise: 365 * 24 * time.Hour},
	} {
		r := recovering(t, 1, 2, 3)
		lie.Incarnation, lie.Nonce, lie.Voters = steptest.Incarnation(3), 1, proto.VoterSet{Hash: 1}
		r.Step(0, r.From(9, proto.MaxTerm, lie))
		if !tell(r, proto.VoterSet{Hash: proto.ListVoters([]proto.NodeID{1, 2, 3}).Hash()}, 1, 2) {
			t.Errorf("%s: does not vote: %+v", name, r.Last.Recovery)
		} else if got := r.Last.Save.Vote.Term; got != 7 {
			t.Errorf("%s: votes above term %d, want 7", name, got)
		}
	}
}

// docs/VOTERS.md: "A leader under the old list stays until it leaves", and "the list before counts, too": also for a
// node that does not vote and was just started with the new list. The voters tell it which list was before.
func TestObserverFollowsTheVoterThatGoes(t *testing.T) {
	r := newRig(t, 9, func(c *algorithms.Config) { c.Voters = []proto.NodeID{1, 3, 4} })
	r.Start(0, 1, 2, 3, 4, 9)
	leads := r.From(2, 1, heartbeat(2, listed(1, 0, 1, 2, 3, 4)))
	if r.Step(delta, leads); r.Last.Leader.ID != 0 {
		t.Errorf("follows 2, of which no voter has told: %+v", r.Last.Leader)
	}
	r.Step(0, r.From(3, 1, proto.VoterState{
		Incarnation: steptest.Incarnation(9), Voters: listed(2, 2, 1, 3, 4),
	}))
	if r.Step(delta, leads); r.Last.Leader.ID != 2 {
		t.Errorf("does not follow 2: %v", steptest.Texts(r.Last.Why))
	}
}

// "A leader that is heard for a whole promise, in which nobody of a higher term is, and says that it leads when it is
// asked, goes on leading": a voter that lied once, of a term that it never won, keeps no node from its leader.
func TestFollowsWhoLeadsOn(t *testing.T) {
	const every = promise / 4
	for _, start := range []func(*testing.T) *rig{follower3, observer3} {
		r := start(t)
		if r.Step(0, r.holds(2, 4, leased)); r.Last.Leader.ID != 2 {
			t.Fatalf("does not follow the higher term: %+v", r.Last)
		}
		var waited time.Duration
		for r.Last.Leader.ID != 3 && waited < 3*promise {
			r.Step(every, r.renew(3, 1, 9))
			waited += every
			r.all(r.saysItLeads(3, 1))
		}
		if waited < promise || waited > promise+2*every {
			t.Errorf("node %d follows the leader again after %v, want %v", r.Self, waited, promise)
		}
	}
}

// docs/GUARANTEES.md: "A late or repeated message never undoes a newer term", however many come, and how.
func TestDoesNotFollowWhoLedBefore(t *testing.T) {
	for name, gap := range map[string]time.Duration{"together": 0, "with gaps": promise, "one by one": promise / 4} {
		r := follower3(t)
		r.Step(0, r.holds(2, 4, leased))
		r.Step(leased, algorithms.Timeout{})
		for range 9 {
			if r.Step(gap, r.renew(3, 1, 9)); r.Last.Leader.ID != 0 {
				t.Fatalf("%s: follows %d", name, r.Last.Leader.ID)
			}
		}
	}
}

// saysItLeads has a node's answers to those questions of the last Step that ask whether it leads.
func (r *rig) saysItLeads(id proto.NodeID, term proto.Term) (answers []algorithms.Event) {
	for _, m := range r.Last.Send {
		if q, ok := m.Body.(proto.Recover); ok && q.Number > 0 && m.To == id {
			answers = append(answers, r.From(id, term, proto.VoterState{
				Incarnation: q.Incarnation, Number: q.Number,
				Follows: proto.Leadership{Term: term, Leader: id, Incarnation: steptest.Incarnation(id)},
			}))
		}
	}
	return answers
}

func (r *rig) all(events []algorithms.Event) {
	for _, ev := range events {
		r.Step(0, ev)
	}
}

// "Its leader says that it leads, asked just now": an answer that comes late, to a question from before the higher term
// was heard of again, does not count, nor does one of another node or of another term.
func TestLateWordOfWhoLedBefore(t *testing.T) {
	const every = promise / 4
	r := follower3(t)
	var late, asked []algorithms.Event
	for range 2 {
		r.Step(0, r.holds(2, 4, leased))
		late, asked = asked, nil
		for range 6 {
			r.Step(every, r.renew(3, 1, 9))
			answers := r.saysItLeads(3, 1)
			asked = append(asked, answers...)
			for _, ev := range answers {
				right := ev.(algorithms.Receive).Message
				state := right.Body.(proto.VoterState)
				r.Step(0, r.From(2, 1, state))
				state.Follows = led(3, 2)
				r.Step(0, r.From(3, 2, state))
			}
			r.all(late)
		}
		if len(asked) == 0 || r.Last.Leader.ID == 3 {
			t.Errorf("asks %d times, follows %d: %v", len(asked), r.Last.Leader.ID, steptest.Texts(r.Last.Why))
		}
	}
}

func led(id proto.NodeID, term proto.Term) proto.Leadership {
	return proto.Leadership{Term: term, Leader: id, Incarnation: steptest.Incarnation(id)}
}

// docs/VOTERS.md, rule 5: who does not vote follows a new voter that a voter says it follows, for that leadership alone
// and by a list that adds this node to its own. A voter does not, and gives it no vote; nor does the word of a node
// that is no voter count.
func TestVoterVouchesForTheNewVoter(t *testing.T) {
	four := listed(1, 4, 1, 2, 3, 4)
	vouch := func(r *rig, from proto.NodeID, follows proto.Leadership) {
		r.Step(0, r.From(from, 2, proto.VoterState{
			Incarnation: steptest.Incarnation(r.Self), Voters: listed(0, 0, 1, 2, 3), Follows: follows,
		}))
	}
	former := proto.Leadership{Term: 2, Leader: 4, Incarnation: proto.Incarnation{44}}
	for name, c := range map[string]struct {
		from proto.NodeID
		led  proto.Leadership
		list proto.VoterSet
		want proto.NodeID
	}{
		"a voter follows it":               {1, led(4, 2), four, 4},
		"the node itself says so":          {4, led(4, 2), four, 0},
		"another that does not vote":       {8, led(4, 2), four, 0},
		"a voter follows another":          {1, led(2, 2), four, 0},
		"a voter followed its former life": {1, former, four, 0},
		"a voter followed it before":       {1, led(4, 1), four, 0},
		"a list that adds two":             {1, led(4, 2), listed(1, 4, 1, 2, 3, 4, 5), 0},
	} {
		r := newRig(t, 9, nil)
		r.Start(0, 1, 2, 3, 4, 9)
		r.Step(delta, r.From(4, 2, heartbeat(4, c.list)))
		if len(r.Last.Send) == 0 || r.Last.Leader.ID != 0 {
			t.Errorf("%s: asks nobody: %+v", name, r.Last)
		}
		vouch(r, c.from, c.led)
		r.Step(delta, r.From(4, 2, heartbeat(4, c.list)))
		if asks := len(r.Last.Send) > 0; r.Last.Leader.ID != c.want || asks == (c.want != 0) {
			t.Errorf("%s: follows %d, want %d; asks %v", name, r.Last.Leader.ID, c.want, asks)
		}
	}
	r := voter1(t, nil)
	vouch(r, 2, led(4, 2))
	for _, body := range []proto.Body{
		heartbeat(4, four), proto.RequestVote{Incarnation: steptest.Incarnation(4), Nonce: 1, Voters: four},
	} {
		if r.Step(0, r.From(4, 2, body)); r.Last.Save != nil || r.Last.Leader.ID != 0 {
			t.Errorf("%v gets %+v of a voter", body, r.Last.Save)
		}
	}
}

// A voter answers whom it follows, itself if it leads, as long as it knows of one.
func TestSaysWhomItFollows(t *testing.T) {
	for _, r := range []*rig{follower3(t), holder3(t)} {
		for _, want := range []proto.Leadership{led(3, 1), {}} {
			r.Step(0, r.From(9, 0, proto.Recover{Incarnation: steptest.Incarnation(9), Number: 7}))
			r.Sends(r.Last, r.Msg(9, 1, proto.VoterState{
				Incarnation: steptest.Incarnation(9), Round: 1, Follows: want, Number: 7,
			}))
			r.Step(promise, algorithms.Timeout{})
		}
	}
}
