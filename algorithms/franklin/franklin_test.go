package franklin_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/franklin"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// stands is node 3 of five, a candidate of the term it returns.
func stands(t *testing.T) (*steptest.Rig, proto.Term) {
	r := steptest.New(t, 3, false, franklin.New)
	r.Start(0, 1, 2, 3, 4, 5)
	out := r.Step(0, algorithms.Campaign{Reason: "test"})
	return r, out.Leader.Term
}

func candidate(id proto.NodeID, round uint64, clockwise bool, hops uint64) franklin.Candidate {
	return franklin.Candidate{Candidate: steptest.Peer(id), Round: round, Clockwise: clockwise, Hops: hops}
}

func TestRounds(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2, 7: 2, 8: 3, 100: 6} {
		if got := franklin.Rounds(n); got != want {
			t.Errorf("%d nodes: last round %d, want %d", n, got, want)
		}
	}
}

// "A candidate that ranks above both its neighbours stands in the next round too."
func TestStandsInTheNextRound(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Last, r.Msg(4, term, candidate(3, 0, true, 1)), r.Msg(2, term, candidate(3, 0, false, 1)))
	r.Sends(r.Step(delta, r.From(2, term, candidate(2, 0, true, 1))))
	r.Step(delta, r.From(4, term, candidate(1, 0, false, 3)))
	r.Want(algorithms.Output{
		Send: []proto.Message{
			r.Msg(4, term, candidate(3, 1, true, 1)), r.Msg(2, term, candidate(3, 1, false, 1)),
		},
		Deadline: r.In(franklin.Patience(delta, 5)),
		Leader:   steptest.Leads(0, term),
		Why: steptest.Why(
			"franklin.below(1)",
			"franklin.next-round(1)",
		),
	})
}

// Links need not keep the order: one of a later round counts for the earlier ones,
// and what it overtook is dropped.
func TestLaterRoundCountsForEarlierOnes(t *testing.T) {
	r, term := stands(t)
	r.Step(0, r.From(2, term, candidate(2, 1, true, 1)))
	r.Sends(r.Step(0, r.From(2, term, candidate(2, 0, true, 1))))
	r.Sends(r.Step(0, r.From(4, term, candidate(1, 0, false, 3))),
		r.Msg(4, term, candidate(3, 1, true, 1)), r.Msg(2, term, candidate(3, 1, false, 1)))
	r.Sends(r.Step(0, r.From(4, term, candidate(1, 1, false, 3))),
		r.Msg(4, term, candidate(3, 2, true, 1)), r.Msg(2, term, candidate(3, 2, false, 1)))
}

// "Of two candidates that are neighbours, the lower one falls", and "only passes
// messages on" in the rounds after.
func TestFalls(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Step(0, r.From(4, term, candidate(4, 0, false, 1)))) // was for this node
	r.Sends(r.Step(0, r.From(2, term, candidate(2, 0, true, 1))))  // so was this
	r.Sends(r.Step(0, r.From(4, term, candidate(4, 1, false, 1))), r.Msg(2, term, candidate(4, 1, false, 2)))
	r.Sends(r.Step(0, r.From(4, term, candidate(4, 1, false, 1)))) // again
	r.Sends(r.Step(0, r.From(2, term, candidate(1, 1, true, 2))), r.Msg(4, term, candidate(1, 1, true, 3)))
}

// One that did not notice is woken: it stands if it ranks above, else it passes on.
func TestWakesUp(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Step(0, r.From(2, term+1, candidate(2, 0, true, 1))),
		r.Msg(4, term+1, candidate(3, 0, true, 1)), r.Msg(2, term+1, candidate(3, 0, false, 1)))
	r.Sends(r.Step(0, r.From(4, term+2, candidate(5, 0, false, 2))), r.Msg(2, term+2, candidate(5, 0, false, 3)))
	r.Sends(r.Step(0, r.From(2, term+2, candidate(2, 0, true, 1))), r.Msg(4, term+2, candidate(2, 0, true, 2)))
}

// "A candidate that meets only itself is the last one, and the highest."
func TestItsOwnComesHome(t *testing.T) {
	r, term := stands(t)
	if out := r.Step(0, r.From(2, term, candidate(3, 4, true, 5))); out.Leader.ID != 0 {
		t.Errorf("leads by a message that it did not send: %v", steptest.Texts(out.Why))
	}
	out := r.Step(0, r.From(2, term, candidate(3, 0, true, 5)))
	if out.Leader != steptest.Leads(3, term) {
		t.Errorf("does not lead: %v", steptest.Texts(out.Why))
	}
	r.Sends(out, r.Msg(4, term, topology.Elected{Leader: steptest.Peer(3), Hops: 1}))
}

// "Any process, after receiving Election:80 message, can detect failure of N80 via
// its own local failure detector. If so, start a new run."
func TestBestDies(t *testing.T) {
	r, term := stands(t)
	r.Step(0, r.From(4, term, candidate(5, 0, false, 2)))
	if out := r.Step(delta, steptest.Alive(1, 2, 3, 4)); out.Leader.Term != term+1 || len(out.Send) != 2 {
		t.Errorf("no new run: %+v", out)
	}
}

// What a neighbour had may have died with it.
func TestRingIsRepaired(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Step(delta, steptest.Alive(1, 2, 3, 5)), r.Msg(5, term, candidate(3, 0, true, 1)))
}

// One that is left alone leads, though the best of the round went with the others.
func TestLeftAlone(t *testing.T) {
	r, term := stands(t)
	r.Step(0, r.From(4, term, candidate(5, 0, false, 2)))
	if out := r.Step(delta, steptest.Alive(3)); out.Leader != steptest.Leads(3, term) {
		t.Errorf("%+v: %v", out.Leader, steptest.Texts(out.Why))
	}
}

// A life that is over wins nothing.
func TestFormerLife(t *testing.T) {
	r, term := stands(t)
	old := candidate(3, 0, true, 5)
	old.Candidate.Incarnation = steptest.Incarnation(33)
	if out := r.Step(0, r.From(2, term, old)); out.Leader.ID != 0 || len(out.Send) != 0 {
		t.Errorf("its former life wins: %+v", out)
	}
}

// A candidate that is none of this node's ring counts as nobody: it would never come home.
func TestOffTheRing(t *testing.T) {
	r := steptest.New(t, 3, false, franklin.New)
	r.Start(0, 1, 2, 3, 5)
	term := r.Step(0, algorithms.Campaign{Reason: "test"}).Leader.Term
	r.Gives(0, r.From(2, term, candidate(4, 0, true, 3)), "franklin.off-ring(4)")
	r.Sends(r.Last)
}
