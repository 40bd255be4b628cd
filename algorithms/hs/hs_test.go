package hs_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/hs"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const delta = steptest.Delta

// stands is node 3 of five, a candidate of the term it returns.
func stands(t *testing.T) (*steptest.Rig, proto.Term) {
	r := steptest.New(t, 3, false, hs.New)
	r.Start(0, 1, 2, 3, 4, 5)
	out := r.Step(0, algorithms.Campaign{Reason: "test"})
	return r, out.Leader.Term
}

func probe(candidate proto.NodeID, phase uint64, clockwise bool, hops uint64) hs.Probe {
	return hs.Probe{Candidate: steptest.Peer(candidate), Phase: phase, Clockwise: clockwise, Hops: hops}
}

func reply(candidate proto.NodeID, phase uint64, clockwise bool, hops uint64) hs.Reply {
	return hs.Reply{Candidate: candidate, Phase: phase, Clockwise: clockwise, Hops: hops}
}

func TestPhases(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 3, 9: 4, 100: 7} {
		if got := hs.Phases(n); got != want {
			t.Errorf("%d nodes: phase %d, want %d", n, got, want)
		}
	}
}

// A candidate probes both ways, and twice as far once it has a reply from each.
func TestProbesTwiceAsFar(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Last, r.Msg(4, term, probe(3, 0, true, 1)), r.Msg(2, term, probe(3, 0, false, 1)))
	r.Sends(r.Step(delta, r.From(4, term, reply(3, 0, false, 1))))
	r.Sends(r.Step(delta, r.From(4, term, reply(3, 0, false, 1)))) // the same side again
	r.Sends(r.Step(delta, r.From(2, term, reply(3, 0, true, 1))),
		r.Msg(4, term, probe(3, 1, true, 1)), r.Msg(2, term, probe(3, 1, false, 1)))
	r.Want(algorithms.Output{
		Send:     r.Last.Send,
		Deadline: r.In(hs.Patience(delta, 5)),
		Leader:   steptest.Leads(0, term),
		Why:      steptest.Why("hs.both-sides(1)"),
	})
}

// A higher candidate's probe is passed on as far as it is to go, and answered there;
// it ends this node's own candidature. A repetition is dropped.
func TestLetsAHigherOnePass(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Step(0, r.From(4, term, probe(5, 1, false, 2))), r.Msg(4, term, reply(5, 1, true, 1)))
	r.Sends(r.Step(0, r.From(4, term, probe(5, 2, false, 2))), r.Msg(2, term, probe(5, 2, false, 3)))
	r.Sends(r.Step(0, r.From(4, term, probe(5, 2, false, 2))))
	r.Sends(r.Step(0, r.From(2, term, reply(5, 2, true, 2))), r.Msg(4, term, reply(5, 2, true, 3)))
	r.Sends(r.Step(0, r.From(2, term, reply(5, 2, true, 2))))
	r.Step(0, r.From(4, term, reply(3, 0, false, 1)))
	r.Sends(r.Step(0, r.From(2, term, reply(3, 0, true, 1)))) // beaten: probes no more
}

// A lower candidate's probe ends here.
func TestLetsNoLowerOnePass(t *testing.T) {
	r, term := stands(t)
	r.Sends(r.Step(0, r.From(2, term, probe(2, 0, true, 1))))
	if out := r.Step(0, r.From(2, term+1, probe(2, 0, true, 1))); len(out.Send) != 2 {
		t.Errorf("a node that ranks higher does not stand: %v", steptest.Texts(out.Why))
	}
}

// Its own probe has passed everybody.
func TestProbeComesHome(t *testing.T) {
	r, term := stands(t)
	if out := r.Step(0, r.From(2, term, probe(3, 5, true, 5))); out.Leader.ID != 0 {
		t.Errorf("leads by a probe that it did not send: %v", steptest.Texts(out.Why))
	}
	out := r.Step(0, r.From(2, term, probe(3, 0, true, 5)))
	if out.Leader != steptest.Leads(3, term) {
		t.Errorf("does not lead: %v", steptest.Texts(out.Why))
	}
	r.Sends(out, r.Msg(4, term, topology.Elected{Leader: steptest.Peer(3), Hops: 1}))
}

// "Any process, after receiving Election:80 message, can detect failure of N80 via
// its own local failure detector. If so, start a new run."
func TestBestDies(t *testing.T) {
	r, term := stands(t)
	r.Step(0, r.From(4, term, probe(5, 2, false, 2)))
	if out := r.Step(delta, steptest.Alive(1, 2, 3, 4)); out.Leader.Term != term+1 || len(out.Send) != 2 {
		t.Errorf("no new run: %+v", out)
	}
}

// What a neighbour had may have died with it: the candidate probes twice as far.
func TestRingChanges(t *testing.T) {
	r, term := stands(t)
	out := r.Step(delta, steptest.Alive(1, 2, 3, 5))
	r.Sends(out, r.Msg(5, term, probe(3, 0, true, 1)),
		r.Msg(5, term, probe(3, 1, true, 1)), r.Msg(2, term, probe(3, 1, false, 1)))
}

// A candidate that is none of this node's ring would stop all others, and never come home.
func TestOffTheRing(t *testing.T) {
	r := steptest.New(t, 3, false, hs.New)
	r.Start(0, 1, 2, 3, 5)
	term := r.Step(0, algorithms.Campaign{Reason: "test"}).Leader.Term
	r.Gives(0, r.From(2, term, probe(4, 0, true, 3)), "hs.off-ring-drop(4)")
	r.Sends(r.Last)
	r.Gives(0, r.From(2, term+1, probe(4, 0, true, 3)), "nomination.adopt(2, 1)", "hs.off-ring-stand(4)")
}

// A reply that went round more often than there are nodes goes no further.
func TestReplyFromTooFar(t *testing.T) {
	r, term := stands(t)
	r.Gives(0, r.From(4, term, reply(5, 0, true, 100)), "hs.far(100)")
	r.Sends(r.Last)
}
