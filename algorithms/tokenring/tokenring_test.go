package tokenring_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/tokenring"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// on is node self of four, which knows of no leader yet.
func on(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := steptest.New(t, self, false, tokenring.New)
	r.Start(0, 1, 2, 3, 4)
	return r
}

// election is ELECTION of an initiator that has collected these, the hops being as
// many.
func election(initiator proto.NodeID, ids ...proto.NodeID) tokenring.Election {
	b := tokenring.Election{Initiator: initiator, Hops: uint64(len(ids))}
	for _, id := range ids {
		b.Roll = b.Roll.Add(steptest.Peer(id))
	}
	return b
}

func coordinator(leader proto.NodeID, taken bool, hops uint64) tokenring.Coordinator {
	return tokenring.Coordinator{Leader: steptest.Peer(leader), Taken: taken, Hops: hops}
}

// begun is a node of term 2 whose last life may have had term 1: it may stand.
func begun(t *testing.T, self proto.NodeID) *steptest.Rig {
	r := on(t, self)
	r.Fire() // term 1
	if self != 4 {
		r.Fire()
	}
	r.Step(0, algorithms.Campaign{Reason: "test"})
	return r
}

// "C adds self, sends ELECTION(B,C) to D."
func TestAddsItself(t *testing.T) {
	r := begun(t, 2)
	term := r.Last.Leader.Term + 1
	r.Step(0, r.From(1, term, election(3, 3, 4, 1)))
	r.Want(algorithms.Output{
		Save:     r.Last.Save,
		Send:     []proto.Message{r.Msg(3, term, election(3, 3, 4, 1, 2))},
		Deadline: r.In(8 * delta),
		Leader:   steptest.Leads(0, term),
		Why: steptest.Why(
			steptest.Texts(r.Last.Why)[0], "tokenring.add(3)",
		),
	})
	if out := r.Step(0, r.From(1, term, election(3, 3, 4, 1))); len(out.Send) > 0 {
		t.Errorf("passed on again: %v", out.Send)
	}
	if out := r.Step(0, r.From(1, term, election(1, 1))); len(out.Send) > 0 {
		t.Errorf("a lower initiator was not suppressed: %v", out.Send)
	}
}

// "B sees complete ring, picks highest, broadcasts COORDINATOR."
func TestPicksTheHighest(t *testing.T) {
	r := begun(t, 2)
	term := r.Last.Leader.Term
	r.Step(delta, r.From(1, term, election(2, 2, 3, 4, 1)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(3, term, coordinator(4, false, 1))},
		Deadline: r.In(8 * delta),
		Leader:   steptest.Leads(0, term),
		Why:      steptest.Why("tokenring.choose(tokenring.back, 4)"),
	})
	// It comes back: 4 is not on the ring any more, or does not want to.
	r.Step(delta, r.From(1, term, coordinator(4, false, 4)))
	r.Want(algorithms.Output{
		Send:     []proto.Message{r.Msg(3, term, coordinator(3, false, 1))},
		Deadline: r.In(8 * delta),
		Leader:   steptest.Leads(0, term),
		Why:      steptest.Why("tokenring.choose(tokenring.not-taken(4), 3)"),
	})
}

// The one chosen leads when COORDINATOR has come to it, and not before; nobody
// follows it before.
func TestChosenTakesIt(t *testing.T) {
	r := begun(t, 3)
	term := r.Last.Leader.Term + 1
	r.Step(0, r.From(2, term, election(4, 4, 1, 2)))
	out := r.Step(0, r.From(2, term, coordinator(4, false, 2)))
	if out.Leader.ID != 0 || !slices.Equal(out.Send, []proto.Message{r.Msg(4, term, coordinator(4, false, 3))}) {
		t.Errorf("believed, or not passed on: %+v", out)
	}
	out = r.Step(0, r.From(2, term, coordinator(3, false, 3)))
	if out.Leader != steptest.Leads(3, term) ||
		!slices.Equal(out.Send, []proto.Message{r.Msg(4, term, coordinator(3, true, 1))}) {
		t.Errorf("chosen, and does not lead: %+v", out)
	}
}

// The highest initiator may be dead: whoever its ELECTION comes to a second time
// acts for it.
func TestActsForADeadInitiator(t *testing.T) {
	r := begun(t, 2)
	term := r.Last.Leader.Term + 1
	r.Step(0, r.From(1, term, election(3, 3, 4, 1)))
	r.Step(0, steptest.Alive(1, 2, 4))
	out := r.Step(delta, r.From(1, term, election(3, 3, 4, 1, 2)))
	if want := []proto.Message{r.Msg(4, term, coordinator(4, false, 1))}; !slices.Equal(out.Send, want) {
		t.Errorf("sent %v, want %v: %v", out.Send, want, steptest.Texts(out.Why))
	}
}

// "Any process, after receiving Election:80 message, can detect failure of N80 via
// its own local failure detector. If so, start a new run."
func TestChosenDies(t *testing.T) {
	r := begun(t, 2)
	term := r.Last.Leader.Term
	r.Step(delta, r.From(1, term, election(2, 2, 3, 4, 1)))
	out := r.Step(delta, steptest.Alive(1, 2, 3))
	if out.Leader.Term != term+1 || len(out.Send) != 1 {
		t.Errorf("no new run: %+v", out)
	}
}

// A token that went round more often than there are nodes goes no further.
func TestCoordinatorFromTooFar(t *testing.T) {
	r := begun(t, 2)
	r.Gives(0, r.From(1, 2, coordinator(3, false, 100)), "nomination.adopt(2, 1)", "tokenring.far(100)")
	r.Sends(r.Last)
}
