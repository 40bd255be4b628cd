package hs

import (
	"math/bits"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// Phases returns the phase in which a probe goes all round a ring of n nodes: the least k with 2^k ≥ n.
func Phases(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// ElectedTimeout returns how long a participant waits for ELECTED after the last message of the round
// that it saw: as long as a whole round takes.
func ElectedTimeout(delta time.Duration, n int) time.Duration { return Patience(delta, n) }

// Patience bounds a whole round without failures. It adds the time until the first message reaches the
// best node; the way of its probes there and back in each phase but the last, and once round the ring in
// the last phase; and the way of ELECTED once round the ring. The papers give bounds only for the
// messages. If nodes wake one after the other, each by the probe of the node before it, this takes time,
// too; we found no ring on which it takes more than one trip a phase.
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(Times(n)) * delta
}

// Times returns an upper bound of the transmission times of a round of n nodes.
func Times(n int) int { return 2<<Phases(n) - 1 + (Phases(n)+1)*n }

// round is one node's part in the election. It is the nomination.Round of core.
type round struct {
	core nomination.Core
	topology.Ring

	// The round of the current term.
	state   state
	phase   uint64
	replied [2]bool    // for each direction: the probe of this phase that went there was answered
	best    proto.Peer // the highest-ranked candidate seen, this node included if it is one
}

// state says how far this node has come in the round of the current term.
type state int

const (
	idle      state = iota // no part yet, or the round is over
	candidate              // this node has met no higher node so far
	beaten                 // this node has met a higher node
)

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.core.Init(cfg, r)
	r.Ring.Init(&r.core, cfg.Place, r.Question)
	return &r.core
}

func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Question returns a probe of the present phase: such a probe also asks who leads.
func (r *round) Question() proto.Body { return r.probe(topology.Clockwise) }

func (r *round) Reset() {
	r.state, r.phase, r.replied, r.best = idle, 0, [2]bool{}, proto.Peer{}
	r.Ring.Reset()
}

var whyAsk = reasons.Kind("ask", "this node does not stand -> ask who does")

// Begin makes this node a candidate.
func (r *round) Begin() {
	if !r.core.MayStand() && r.Ring.Neighbour(topology.Clockwise) != 0 {
		// It sends a probe that it cannot win with: whoever ranks above takes over.
		r.core.Why(whyAsk)
	}
	r.state, r.best = candidate, r.core.Self()
	r.send()
}

// send sends the probes of the present phase.
func (r *round) send() {
	r.replied = [2]bool{}
	r.wait()
	r.Ring.SendBoth(r.probe)
}

func (r *round) probe(w topology.Way) proto.Body {
	return Probe{
		Candidate: r.core.Self(), Phase: r.phase, Hops: 1, Clockwise: w == topology.Clockwise,
	}
}

// wait restarts the wait for ELECTED, because the round goes on.
func (r *round) wait() { r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size())) }

// Timeout handles the end of a wait: the leader waited for its ELECTED to come home, or a participant
// waited for ELECTED.
func (r *round) Timeout() { r.Ring.Timeout(topology.KindElected, "a round's time") }

var whyRingChanged = reasons.Kind("ring-changed", "the ring changed -> probe twice as far, phase %d")

// PeersChanged repairs the ring. Nodes that are gone may have held this node's probes, or the replies to
// them. The node need not know which messages are lost: it sends new probes twice as far.
func (r *round) PeersChanged(gone []proto.Peer) {
	taking := r.core.Taking()
	switch {
	case r.Ring.Lost(gone, r.best) || !taking:
	case r.state == beaten && r.core.Out(r.best):
		r.core.CallWithout(r.best)
	case len(gone) > 0 && r.state == candidate && r.phase < topology.MaxPhase:
		r.phase++
		r.core.Why(whyRingChanged, r.phase)
		r.send()
	}
}
